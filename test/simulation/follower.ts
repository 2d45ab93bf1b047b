import { AppError, type PullSource } from '../../src/base/index.ts';
import type { ConversationEvent } from '../../src/conversations/index.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { StreamView } from './stream-view.ts';

/** The reader of one event stream: reads when the seed lets it, until the stream ends, it disconnects, or the process ends. */
export class StreamReading {
	readonly #scheduler: Scheduler;
	readonly #source: PullSource<ConversationEvent>;
	readonly server: SimulatedServer;
	readonly #label: string;
	readonly #onEvent: (event: ConversationEvent) => void;
	readonly #onEnd: (error: AppError | null) => void;
	/** A slow reader takes seconds between two reads. */
	readonly #pauseMs: number;
	#isScheduled = false;
	#hasEnded = false;

	constructor(
		scheduler: Scheduler,
		server: SimulatedServer,
		source: PullSource<ConversationEvent>,
		{
			label,
			pauseMs,
			onEvent,
			onEnd,
		}: {
			label: string;
			pauseMs: number;
			onEvent: (event: ConversationEvent) => void;
			/** The stream ended by itself, or failed with an error. */
			onEnd: (error: AppError | null) => void;
		},
	) {
		this.#scheduler = scheduler;
		this.#source = source;
		this.server = server;
		this.#label = label;
		this.#pauseMs = pauseMs;
		this.#onEvent = onEvent;
		this.#onEnd = onEnd;
		source.open({ onReadable: () => this.#schedule() });
		this.#schedule();
	}

	/** Whether something may be ready that was not read yet. */
	get isBehind(): boolean {
		return this.#isScheduled;
	}

	/** Disconnects. */
	close(): void {
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		this.#scheduler.enter(this.server);
		void this.#source.close();
	}

	#schedule(): void {
		if (this.#isScheduled || this.#hasEnded) return;
		this.#isScheduled = true;
		const delayMs = this.#scheduler.random.next() * this.#pauseMs;
		const run = () => {
			this.#isScheduled = false;
			if (!this.#hasEnded) this.#read();
		};
		this.#scheduler.schedule({ label: `read ${this.#label}`, delayMs, owner: this.server, run });
	}

	#read(): void {
		try {
			for (let event = this.#source.read(); event !== null; event = this.#source.read()) {
				this.#scheduler.trace(`${this.#label} gets ${event.id} ${event.event} ${event.data}`);
				this.#onEvent(event);
				if (this.#hasEnded) return;
			}
			if (!this.#source.isEnded) return;
		} catch (error) {
			if (!(error instanceof AppError)) throw error;
			this.#hasEnded = true;
			this.#onEnd(error);
			return;
		}
		this.#hasEnded = true;
		this.#onEnd(null);
	}
}

/** A client that follows a conversation across disconnections and processes of the server. */
export class Follower {
	readonly view: StreamView;
	readonly conversationId: string;
	readonly name: string;
	/** Messages that were stored when it began: it need not have seen them. */
	readonly earlierMessages = new Set<string>();
	reading: StreamReading | null = null;
	/** The conversation is gone, or the stream was refused for good. */
	hasEnded = false;

	constructor(name: string, conversationId: string, view: StreamView) {
		this.view = view;
		this.name = name;
		this.conversationId = conversationId;
	}
}
