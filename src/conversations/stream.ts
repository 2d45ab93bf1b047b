import { type PullSource, ReadyItems, type SourceReader } from '../base/index.ts';
import type { PositionedUpdate } from '../outbox/index.ts';
import {
	type ConversationEvent,
	conversationEvent,
	type DeltaUpdate,
	type Encoded,
	type EventEncoder,
	type EventUpdate,
	questionEvent,
} from './event-encoder.ts';
import { type Audience, presentFor } from './present.ts';
import type { FinishedTurn, MessageForHuman } from './turn-result.ts';

export interface ConversationStreamOptions {
	audience: Audience;
	/** The stream ends after the end of this reply; null: it ends with its updates. */
	until: string | null;
	/** An event before all others. */
	first: ConversationEvent | null;
}

type EncodingResult = { encoded: Encoded } | { error: unknown };

/**
 * A conversation's events for an audience, from its updates. Deltas are encoded at once; an event whose message must be read first
 * is ready when it was read, and later updates wait for it.
 */
export class ConversationStream implements PullSource<ConversationEvent>, SourceReader {
	readonly #updates: PullSource<PositionedUpdate>;
	readonly #encoder: EventEncoder;
	readonly #audience: Audience;
	readonly #until: string | null;
	#first: ConversationEvent | null;
	#reader: SourceReader | null = null;
	/** The update whose message is being read. */
	#awaited: EventUpdate | null = null;
	/** The result for the awaited update; null until it is there. */
	#result: EncodingResult | null = null;
	/** The event that opened a text whose deltas are skipped: it has ended, and its closing event has it whole; or it was erased. */
	#finishedSeq = 0;
	/** The reply whose calls are skipped, because its text is, or because it had ended when one of them was read from the log. */
	#finishedReplyId = '';
	/** The replies that this stream has opened and not closed. Their logged events are sent even if they have ended meanwhile, as their text is. */
	readonly #openedReplies = new Set<string>();
	/** The failure of the turn's reply was skipped, because the reply was written again since: what comes before that is of other turns. */
	#awaitsRestart = false;
	#isEnded = false;

	constructor(
		updates: PullSource<PositionedUpdate>,
		encoder: EventEncoder,
		{ audience, until, first }: ConversationStreamOptions,
	) {
		this.#updates = updates;
		this.#encoder = encoder;
		this.#audience = audience;
		this.#until = until;
		this.#first = first;
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	open(reader: SourceReader): void {
		this.#reader = reader;
		this.#updates.open(this);
	}

	read(): ConversationEvent | null {
		while (!this.#isEnded) {
			if (this.#awaited !== null) {
				if (this.#result === null) return null;
				const event = this.#takeResult(this.#awaited, this.#result);
				if (event !== null) return event;
				continue;
			}
			if (this.#first !== null) return this.#takeFirst(this.#first);
			const update = this.#updates.read();
			if (update === null) {
				this.#isEnded = this.#updates.isEnded;
				return null;
			}
			const event = update.kind === 'event' ? this.#encode(update) : this.#encodeDelta(update);
			if (event !== null) return event;
		}
		return null;
	}

	onReadable(): void {
		// While a message is read, updates wait for it. The reader is called when it was read.
		if (this.#awaited === null) this.#reader?.onReadable();
	}

	close(): void | Promise<void> {
		this.#isEnded = true;
		return this.#updates.close();
	}

	#takeFirst(first: ConversationEvent): ConversationEvent {
		this.#first = null;
		return first;
	}

	#encodeDelta(update: DeltaUpdate): ConversationEvent | null {
		return this.#awaitsRestart || update.delta.seq === this.#finishedSeq ? null : this.#encoder.delta(update);
	}

	/** Null where the update has no event, or its message must be read first. */
	#encode(update: EventUpdate): ConversationEvent | null {
		const { message_id, tool_call } = update.event.data;
		if (this.#awaitsRestart && message_id !== this.#until) return null;
		this.#awaitsRestart = false;
		if (tool_call && message_id === this.#finishedReplyId) return null;
		const isOpened = this.#openedReplies.has(message_id);
		const encoded = this.#encoder.event(isOpened ? { ...update, replayed: false } : update, this.#audience);
		if (!(encoded instanceof Promise)) return this.#accept(update, encoded);
		this.#awaited = update;
		const settle = (result: EncodingResult): void => {
			this.#result = result;
			if (!this.#isEnded) this.#reader?.onReadable();
		};
		encoded.then(
			(value) => settle({ encoded: value }),
			(error: unknown) => settle({ error }),
		);
		return null;
	}

	#takeResult(update: EventUpdate, result: EncodingResult): ConversationEvent | null {
		this.#awaited = null;
		this.#result = null;
		if ('encoded' in result) return this.#accept(update, result.encoded);
		void this.close();
		throw result.error;
	}

	#accept({ event }: EventUpdate, encoded: Encoded): ConversationEvent | null {
		const { message_id, tool_call, text } = event.data;
		const isSkipped = encoded === 'finished' || encoded === null;
		if (text === 'opens') {
			if (isSkipped) this.#finishedSeq = event.seq;
			this.#finishedReplyId = isSkipped ? message_id : '';
			if (!isSkipped) this.#openedReplies.add(message_id);
		} else if (tool_call && isSkipped) {
			this.#finishedReplyId = message_id;
		}
		if (text === 'closes' && !isSkipped) this.#openedReplies.delete(message_id);
		if (text === 'closes' && message_id === this.#until) {
			if (isSkipped) this.#awaitsRestart = true;
			else void this.close();
		}
		return encoded === 'finished' ? null : encoded;
	}
}

/** The stream of a turn that has ended: its question, and its whole reply. */
export function finishedTurnEvents(
	{ question, finishedReply, closingSeq }: FinishedTurn,
	audience: Audience,
): PullSource<ConversationEvent> {
	const message = presentFor(audience, finishedReply);
	return new ReadyItems([
		questionEvent(question, Math.max(0, closingSeq - 1), audience),
		conversationEvent('message.completed', { message }, { seq: closingSeq, offset: 0 }),
	]);
}

/** The stream of a message that waits for a human: the message alone. */
export function messageForHumanEvents(
	{ messageForHuman, position }: MessageForHuman,
	audience: Audience,
): PullSource<ConversationEvent> {
	return new ReadyItems([questionEvent(messageForHuman, position, audience)]);
}
