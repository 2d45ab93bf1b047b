import { ERROR_CODES } from '../../src/base/index.ts';

const SENTENCE = /^\p{Lu}[\s\S]*[.!?]\)?$/u;
/** Codes with which a server in trouble refuses a valid request. */
const EXPECTED = ['unavailable', 'conversation_busy', 'model_error'];

/** A change of an item that a client has asked for. */
export interface Change {
	/** The item's content after it; null: the item is gone. */
	value: string | null;
	begunAt: number;
	/** When the answer had arrived; absent while there is none. */
	endedAt?: number;
	/** `unknown`: no answer came, or an answer that leaves it open. */
	outcome: 'acknowledged' | 'refused' | 'unknown';
}

/** One thing that the server stores, under a name that no other has. One client changes it, one change after the other. */
export class Item {
	readonly name: string;
	/** Of the resource; null before it is known. */
	id: string | null = null;
	/** The first one is not of a request: before it, the item does not exist. */
	readonly changes: Change[] = [];

	constructor(name: string) {
		this.name = name;
	}

	/** Records that a change is asked for. */
	begin(value: string | null): Change {
		const change: Change = { value, begunAt: now(), outcome: 'unknown' };
		this.changes.push(change);
		return change;
	}

	/** Whether the last change has no certain outcome: then its client does not change it again before a check. */
	get isUncertain(): boolean {
		return this.changes.at(-1)?.outcome === 'unknown';
	}

	/** The value that was last acknowledged, or seen by a check. */
	get value(): string | null {
		return this.changes.findLast(({ outcome }) => outcome === 'acknowledged')?.value ?? null;
	}

	/**
	 * The moments at which the item may have had this value; null if it never had it. An unknown change may have happened at any moment
	 * after it was begun, or never.
	 */
	timesOf(value: string | null): Span | null {
		let found: Span | null = value === null ? { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY } : null;
		for (const change of this.changes) {
			if (change.outcome === 'refused') continue;
			if (change.value === value) found = { from: found?.from ?? change.begunAt, to: Number.POSITIVE_INFINITY };
			else if (change.outcome === 'acknowledged' && found !== null && found.to === Number.POSITIVE_INFINITY)
				found = { from: found.from, to: change.endedAt as number };
		}
		return found;
	}

	/** Makes the value that a check has seen the certain one. */
	settle(value: string | null): void {
		for (const change of this.changes) {
			if (change.outcome !== 'unknown') continue;
			change.outcome = change.value === value ? 'acknowledged' : 'refused';
			change.endedAt = now();
		}
	}
}

/** Moments, both included. */
export interface Span {
	from: number;
	to: number;
}

/** A question and its reply. The conversation's turns are in the order of their requests. */
export interface Turn {
	/** No other question has this text. */
	question: Item;
	/** The reply, once a client has seen that it is complete. */
	reply: Item;
}

export interface KnownConversation {
	id: string | null;
	turns: Turn[];
	/** The serial number in its metadata. Each value is set once. */
	metadata: Item;
	/** `there` until it is erased. */
	existence: Item;
	/** The id of the last event that its follower has seen. */
	lastEventId: string | null;
}

/** A request that is to be repeated. */
export interface Repeat {
	item: Item;
	/** The conversation of a message. */
	conversation: KnownConversation | null;
	path: string;
	body: Record<string, unknown>;
	key: string;
}

/** What clients have asked a server for, over all its lives, and what was acknowledged. */
export class Ledger {
	readonly assistants: Item[] = [];
	readonly documents: Item[] = [];
	readonly conversations: KnownConversation[] = [];
	/** Requests without an answer, which their clients repeat with the same key after the next start. */
	readonly unanswered: Repeat[] = [];
	/** Answers that were neither success nor a sentence with a code, and whatever else a client has found wrong. */
	readonly faults: string[] = [];
	/** Refusals by code. */
	readonly refusals = new Map<string, number>();
	/** A parsing process was killed. The server takes that for too little memory, and may give the document up. */
	hasKilledParsers = false;
	#serial = 0;

	nextSerial(): number {
		return this.#serial++;
	}

	/** Changes that were acknowledged, over all lives of the server. */
	acknowledged = 0;

	/** Records the answer that a change has succeeded. */
	acknowledge(change: Change): void {
		change.outcome = 'acknowledged';
		change.endedAt = now();
		this.acknowledged++;
	}

	/** Records a refusal, which must be a sentence with a code of a server in trouble. */
	refuse(request: string, status: number, body: object | null): void {
		const { code = '', message = '' } = (body as { error?: { code?: string; message?: string } } | null)?.error ?? {};
		this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
		if (!(code in ERROR_CODES && SENTENCE.test(message) && EXPECTED.includes(code)))
			this.faults.push(`${request} was refused with ${status}: ${JSON.stringify(body)}`);
	}

	/** Records that a client has seen a complete reply. */
	complete({ question, reply }: Turn, content: string): void {
		if (content !== replyTo(question.name))
			this.faults.push(`The complete reply to ${question.name} is ${JSON.stringify(content)}.`);
		if (reply.value === null) this.acknowledge(reply.begin('completed'));
	}

	allItems(): Item[] {
		const ofConversations = this.conversations.flatMap(({ turns, metadata, existence }) => [
			...turns.flatMap(({ question, reply }) => [question, reply]),
			metadata,
			existence,
		]);
		return [...this.assistants, ...this.documents, ...ofConversations];
	}
}

/** The reply of the stand-in model to a question, and what a complete reply must be. */
export function replyTo(question: string): string {
	return `The reply to ${question} is: ${question.split('').reverse().join('')}.`;
}

/** Milliseconds of the system's monotonic clock, which the shim's trace has too. */
export function now(): number {
	return Number(process.hrtime.bigint()) / 1e6;
}
