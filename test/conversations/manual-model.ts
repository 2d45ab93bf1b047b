import { type Deferred, deferred } from '../../src/base/index.ts';
import type { ChatProvider, ChatRequest, ModelEvent } from '../../src/models/index.ts';

/** One reply that a test holds in its hands. */
export interface ManualReply {
	request: ChatRequest;
	/** Aborts when the reply is stopped, late, or its server is going down. */
	signal: AbortSignal;
	say(text: string): void;
	end(): void;
	fail(error: Error): void;
}

export interface ManualModelOptions {
	/** Answers at once with these pieces; where it gives none, the reply waits for the test. */
	autoReply?: (request: ChatRequest) => readonly string[] | undefined;
	/** Takes no notice of its signal, as a badly written provider might. */
	ignoresAbort?: boolean;
}

/** A stand-in for a model: each reply waits until the test says what comes next. Named `scripted/any`. */
export class ManualModel {
	readonly provider: ChatProvider;
	readonly replies: ManualReply[] = [];
	#arrived: Deferred<void> = deferred();

	constructor({ autoReply, ignoresAbort = false }: ManualModelOptions = {}) {
		this.provider = {
			id: 'scripted',
			models: null,
			chat: {
				stream: (request, signal) => this.#stream(request, signal, autoReply?.(request), ignoresAbort),
			},
		};
	}

	/** The n-th reply that was asked of this model, from 0, as soon as it was. */
	async reply(index: number): Promise<ManualReply> {
		for (;;) {
			const reply = this.replies[index];
			if (reply) return reply;
			await this.#arrived.promise;
		}
	}

	async *#stream(
		request: ChatRequest,
		signal: AbortSignal,
		pieces: readonly string[] | undefined,
		deaf: boolean,
	): AsyncIterable<ModelEvent> {
		const waiting: Array<string | Error | null> = [];
		let wake: Deferred<void> = deferred();
		const put = (item: string | Error | null) => {
			waiting.push(item);
			wake.resolve();
		};
		if (!deaf) signal.addEventListener('abort', () => wake.resolve());
		for (const piece of pieces ?? []) put(piece);
		if (pieces) put(null);
		this.replies.push({ request, signal, say: put, end: () => put(null), fail: put });
		this.#arrived.resolve();
		this.#arrived = deferred();
		for (;;) {
			if (signal.aborted && !deaf) throw signal.reason;
			const item = waiting.shift();
			if (item === null) return;
			if (item instanceof Error) throw item;
			if (item === undefined) {
				wake = deferred();
				await wake.promise;
			} else {
				yield { type: 'delta', text: item };
			}
		}
	}
}
