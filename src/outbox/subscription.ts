import { AppError, isId, type PullSource, type SourceReader } from '../base/index.ts';
import type { StreamPosition } from './position.ts';
import { recentEventsSince } from './recent-events.ts';
import { SubscriberPosition } from './subscriber-position.ts';
import {
	NO_UPDATES,
	type OpenText,
	type PositionedUpdate,
	type StreamEvent,
	type StreamUpdate,
	SubscriberBuffer,
	type Topic,
} from './topic.ts';

/** What a subscription needs from its outbox. */
export interface SubscriptionHost {
	/** Whether the outbox was closed: all subscriptions end. */
	readonly isClosed: boolean;
	/** Whether this node publishes the stream. */
	isServed(stream: string): boolean;
	/** Adds a subscriber to a stream. */
	join(stream: string, subscriber: SubscriberBuffer): Topic;
	leave(stream: string, topic: Topic, subscriber: SubscriberBuffer): void;
	/** Events of the log after an event number, in order. */
	readLog(stream: string, after: number, limit: number): Promise<StreamEvent[]>;
}

/**
 * What a subscription does once its ready updates are read:
 * - `backlog`: it reads the next page of the log.
 * - `reading`: it waits for a page of the log.
 * - `join`: it has no position and sends the beginning of the open text.
 * - `cut-over`: it sends the open text as it was when the subscription started.
 * - `live`: it takes the updates from its buffer.
 */
type Phase = 'backlog' | 'reading' | 'join' | 'cut-over' | 'live';

/** Events of the log that are read at once for the backlog. */
const PAGE_SIZE = 200;

/** The updates of one stream for one subscriber. See `Outbox`. */
export class Subscription implements PullSource<PositionedUpdate>, SourceReader {
	readonly #host: SubscriptionHost;
	readonly #stream: string;
	readonly #after: StreamPosition | null;
	readonly #buffer = new SubscriberBuffer(this);
	#position = new SubscriberPosition({ seq: 0, offset: 0 });
	#reader: SourceReader | null = null;
	/** Null before the start and after the end. */
	#topic: Topic | null = null;
	#phase: Phase = 'live';
	/** Updates that were taken from the log, the snapshot or the buffer; those before `#nextReady` were read. */
	#ready: readonly StreamUpdate[] = NO_UPDATES;
	#nextReady = 0;
	/** The event after which the log is read. */
	#logPosition = 0;
	/** The text that was open at the start; null once it was sent. */
	#snapshot: OpenText | null = null;
	/** The error of a read of the log. */
	#failure: { error: unknown } | null = null;
	#isEnded = false;

	constructor(host: SubscriptionHost, stream: string, after: StreamPosition | null) {
		this.#host = host;
		this.#stream = stream;
		this.#after = after;
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	open(reader: SourceReader): void {
		if (this.#host.isClosed || !this.#host.isServed(this.#stream)) this.#isEnded = true;
		if (this.#isEnded) return;
		this.#reader = reader;
		// The buffer is filled before the log is read: an event that commits meanwhile is in both, and the duplicate is dropped by its position.
		const topic = this.#host.join(this.#stream, this.#buffer);
		const after = this.#after;
		this.#topic = topic;
		this.#snapshot = topic.openText && { ...topic.openText };
		if (after === null) {
			this.#startWithoutPosition();
			return;
		}
		const recent = recentEventsSince(topic, after, this.#snapshot?.seq ?? after.seq);
		if (recent === null) {
			void this.#startFromLog(after);
			return;
		}
		this.#position = new SubscriberPosition(after);
		// The text that is open now follows. Its message is shown from its beginning, even if the text closes before its events were encoded.
		const open = this.#snapshot?.message_id;
		this.#ready = recent.map((event) => ({
			...{ kind: 'event', event },
			replayed: open === undefined || event.data.message_id !== open,
		}));
		this.#phase = 'cut-over';
	}

	read(): PositionedUpdate | null {
		while (!this.#isEnded) {
			if (this.#host.isClosed) {
				this.close();
				return null;
			}
			const update = this.#ready[this.#nextReady];
			if (update !== undefined) {
				this.#nextReady++;
				const positioned = this.#position.advance(update);
				if (positioned !== null) return positioned;
				continue;
			}
			this.#ready = NO_UPDATES;
			this.#nextReady = 0;
			if (this.#phase === 'join') return this.#joinOpenText();
			if (!this.#takeUpdates()) return null;
		}
		return null;
	}

	/** The buffer or the log has something for the subscriber. */
	onReadable(): void {
		if (!this.#isEnded) this.#reader?.onReadable();
	}

	close(): void {
		this.#isEnded = true;
		this.#ready = NO_UPDATES;
		if (this.#topic === null) return;
		this.#host.leave(this.#stream, this.#topic, this.#buffer);
		this.#topic = null;
	}

	#startWithoutPosition(): void {
		this.#phase = this.#snapshot ? 'join' : 'live';
	}

	/** Starts a subscription whose events are not cached. */
	async #startFromLog(after: StreamPosition): Promise<void> {
		this.#phase = 'reading';
		try {
			const known = await this.#host.readLog(this.#stream, after.seq - 1, 1);
			if (known.length > 0) {
				this.#position = new SubscriberPosition(after);
				// From the earlier of position and snapshot: only the log says whether the text of the snapshot is still open.
				this.#logPosition = Math.min(after.seq, this.#snapshot?.seq ?? after.seq);
				this.#phase = 'backlog';
			} else {
				// A position after the last event of a conversation was not issued by this database: there is no backlog. A position in the
				// log of all workspaces was checked; events before it may still be published here.
				if (!isId('conversation', this.#stream)) this.#position = new SubscriberPosition(after);
				this.#startWithoutPosition();
			}
		} catch (error) {
			this.#failure = { error };
		}
		this.onReadable();
	}

	/**
	 * Takes further updates, where there are any.
	 * @throws AppError `unavailable` where the subscriber was too slow
	 */
	#takeUpdates(): boolean {
		if (this.#failure) {
			this.close();
			throw this.#failure.error;
		}
		if (this.#phase === 'live') return this.#takeBuffered();
		if (this.#phase === 'cut-over') {
			this.#takeSnapshot();
			return true;
		}
		if (this.#phase === 'backlog') void this.#readPage();
		return false;
	}

	async #readPage(): Promise<void> {
		this.#phase = 'reading';
		try {
			const page = await this.#host.readLog(this.#stream, this.#logPosition, PAGE_SIZE);
			if (this.#isEnded) return;
			this.#ready = page.map(asReplayed);
			this.#logPosition = page.at(-1)?.seq ?? this.#logPosition;
			this.#phase = page.length < PAGE_SIZE ? 'cut-over' : 'backlog';
		} catch (error) {
			this.#failure = { error };
		}
		this.onReadable();
	}

	/** For a subscriber without a position: the event that opened the text. The text follows. */
	#joinOpenText(): PositionedUpdate {
		this.#phase = 'cut-over';
		return this.#position.joinOpenText(this.#snapshot as OpenText, this.#stream);
	}

	#takeSnapshot(): void {
		this.#phase = 'live';
		if (this.#snapshot?.text && !this.#topic?.isClosed) {
			const { seq, message_id, text } = this.#snapshot;
			this.#ready = [{ kind: 'delta', delta: { seq, message_id, index: 0, text } }];
		}
		this.#snapshot = null;
	}

	#takeBuffered(): boolean {
		if (this.#topic?.isClosed) {
			this.close();
			return false;
		}
		this.#ready = this.#buffer.drain();
		if (this.#ready.length > 0) return true;
		if (!this.#buffer.hasOverflowed) return false;
		this.close();
		throw new AppError('unavailable', 'The stream was read too slowly. Resume it.');
	}
}

function asReplayed(event: StreamEvent): StreamUpdate {
	return { kind: 'event', event, replayed: true };
}
