import { encodeSingleLines, type PullSource, type SourceReader } from '../base/index.ts';
import type { ConversationRecord } from '../store/index.ts';
import type { ConversationEvent } from './event-encoder.ts';
import { NO_PEOPLE, type People } from './people.ts';
import type { Audience } from './present.ts';

/**
 * A conversation's events, and `presence` events between them: the state of its people at the start, if there is anything to say,
 * and each change of it. These events are not stored and have no id, so they do not move the client's position.
 */
export class PresenceStream implements PullSource<ConversationEvent>, SourceReader {
	readonly #events: PullSource<ConversationEvent>;
	readonly #people: People;
	readonly #conversation: Pick<ConversationRecord, 'id' | 'workspace_id'>;
	readonly #audience: Audience;
	#reader: SourceReader | null = null;
	#leave: (() => void) | null = null;
	/** The data of the last event that was made. */
	#lastData: string;
	#pending: ConversationEvent | null = null;
	/** The state is being read, or must be read again after that. */
	#reading: 'no' | 'yes' | 'again' = 'no';

	constructor(
		events: PullSource<ConversationEvent>,
		people: People,
		conversation: Pick<ConversationRecord, 'id' | 'workspace_id'>,
		audience: Audience,
	) {
		this.#events = events;
		this.#people = people;
		this.#conversation = conversation;
		this.#audience = audience;
		this.#lastData = dataOf(NO_PEOPLE[audience]);
	}

	get isEnded(): boolean {
		return this.#pending === null && this.#events.isEnded;
	}

	open(reader: SourceReader): void {
		this.#reader = reader;
		this.#events.open(this);
		this.#leave = this.#people.onChange(this.#conversation, () => this.#refresh());
		this.#refresh();
	}

	onReadable(): void {
		this.#reader?.onReadable();
	}

	read(): ConversationEvent | null {
		const event = this.#events.read();
		if (event !== null) return event;
		if (this.#events.isEnded) this.#end();
		const pending = this.#pending;
		this.#pending = null;
		return pending;
	}

	close(): void | Promise<void> {
		this.#end();
		return this.#events.close();
	}

	#end(): void {
		this.#leave?.();
		this.#leave = null;
		this.#pending = null;
	}

	#refresh(): void {
		if (this.#reading !== 'no') {
			this.#reading = 'again';
			return;
		}
		this.#reading = 'yes';
		// A failed read is like a missed change: the next one is sent.
		void this.#readState().catch(() => {});
	}

	async #readState(): Promise<void> {
		try {
			const body = await this.#people.describe(this.#conversation.id, this.#audience);
			if (body && this.#leave) this.#offer(dataOf(body));
		} finally {
			const isStale = this.#reading === 'again';
			this.#reading = 'no';
			if (isStale && this.#leave) this.#refresh();
		}
	}

	#offer(data: string): void {
		if (data === this.#lastData) return;
		this.#lastData = data;
		// A state that was not read yet is replaced: only the last one counts.
		this.#pending = { id: '', event: 'presence', data, encoded: encodeSingleLines({ event: 'presence', data }) };
		this.#reader?.onReadable();
	}
}

function dataOf(body: object): string {
	return JSON.stringify({ type: 'presence', ...body });
}
