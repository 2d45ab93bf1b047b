import type { Kind, Records } from './records.ts';
import type { IndexWrite } from './search-index.ts';

/** A record that must be at this version, or the commit is a conflict. */
export interface Expectation {
	kind: Kind;
	id: string;
	version: number;
}

type Insert = { [K in Kind]: { op: 'insert'; kind: K; record: Omit<Records[K], 'version'> } }[Kind];
type Change = {
	[K in Kind]: { op: 'patch'; kind: K; id: string; set: Partial<Omit<Records[K], 'id' | 'version' | 'created_at'>> };
}[Kind];

/** One typed operation. A patch leaves fields that are undefined; of a record that is gone, it makes the commit a conflict. */
export type Write =
	| Insert
	| Change
	| { op: 'remove'; kind: Kind; id: string }
	/** Removes the rounds of a reply, with their calls. They go with their message by themselves. */
	| { op: 'erase_rounds'; message_id: string }
	/**
	 * Removes a conversation, and of its messages, the events about it, their deliveries and the stored answers that show it at
	 * most `limit` each (all, where it is absent). What remains is a job of the kind `CONVERSATION_ERASURE_JOB`, in the same transaction, until
	 * the same write has removed it.
	 */
	| { op: 'erase_conversation'; id: string; limit?: number }
	/** Removes a knowledge base with its documents, every generation of its index and every job about any of them. */
	| { op: 'erase_knowledge_base'; id: string }
	/** Removes all sessions of a user, but one where it is named. */
	| { op: 'end_sessions'; user_id: string; except?: string }
	/** Removes stored answers and sessions whose time is over (ms since the epoch), at most `limit` of each. */
	| { op: 'erase_expired'; before: number; limit: number }
	/** Removes every stored answer that is sealed with the server's secret key. */
	| { op: 'erase_sealed_answers' }
	| DeliveryWrite
	| IndexWrite;

/** A change of what is delivered to webhook endpoints, beside the deliveries that come with events. `limit` bounds one commit. */
export type DeliveryWrite =
	/** Ends deliveries of an endpoint that wait. */
	| { op: 'cancel_deliveries'; webhook_id: string; at: number; limit: number }
	/** Removes deliveries of an endpoint that is gone, with their attempts. */
	| { op: 'erase_deliveries'; webhook_id: string; limit: number }
	/**
	 * Removes events from before a time (ms since the epoch) that no delivery waits for, with their deliveries; 30 days later
	 * also those that one still waits for. It looks at some thousands, and the next one goes on behind them.
	 */
	| { op: 'erase_events'; before: number; limit: number }
	/** Makes these events, by their places in the log, due anew at an endpoint; those that wait already stay as they are. */
	| { op: 'redeliver'; webhook_id: string; seqs: number[]; at: number }
	/** An attempt has failed: the first one since the last success is remembered. */
	| { op: 'note_failure'; webhook_id: string; at: number }
	/** An attempt has succeeded, or the endpoint begins anew. */
	| { op: 'forget_failures'; webhook_id: string };

/**
 * An event to be stored with the change it tells of. One of a workspace's stream is due at once at each active webhook
 * endpoint that asked for its type: its deliveries are stored with it.
 */
export interface NewEvent {
	/** `evt_…` */
	id: string;
	/** Whom it concerns: a workspace (what webhooks and the event log carry) or a conversation (what its stream carries). */
	stream: string;
	type: string;
	data: unknown;
	/** The conversation that it tells of, where it does: it is erased with it. */
	subject?: string | null;
	created_at: number;
}

/** An event with its commit sequence, which orders all events of the store. */
export interface StoredEvent extends NewEvent {
	seq: number;
}

/** Work that must be done although the process may end at any moment. */
export interface Job {
	id: string;
	kind: string;
	/** What it is about, an id. */
	ref: string;
	/** Jobs are claimed fairly across groups. */
	group: string;
	/** Not before this time (ms since the epoch). */
	due_at: number;
	/** How often it was claimed since it was enqueued or postponed, this time included: beyond once, its process ended each time. */
	attempts: number;
}

export type JobWrite =
	| { op: 'enqueue'; job: Omit<Job, 'attempts'> }
	/** Done, or given up: it will not be claimed again. */
	| { op: 'settle'; id: string }
	/** Try again later. */
	| { op: 'postpone'; id: string; due_at: number }
	/** What was postponed is due at once: all jobs of a kind, of one group or about one id where that is named. */
	| { op: 'hasten'; kind: string; group?: string; ref?: string }
	/** Settles every job about this id; of one kind, where it is named. */
	| { op: 'settle_all'; ref: string; kind?: string };

/** The kind of the jobs that wait for what remains of erased conversations; `ref` is the conversation. */
export const CONVERSATION_ERASURE_JOB = 'conversation_remains';

/** A response that is stored whole. */
export interface CompleteResponse {
	status: number;
	body: string;
	pending?: undefined;
}

/** The messages that will answer a request whose response is not complete when it is stored. */
export interface PendingReply {
	conversation_id: string;
	question_id: string;
	/** Null where a human handles the conversation: the response is the question itself. */
	reply_id: string | null;
}

/** A response that waits for a reply. */
export interface PendingResponse {
	pending: PendingReply;
	status?: undefined;
	body?: undefined;
}

/** What is stored under an idempotency key. */
export type StoredResponse = { body_hash: string } & (CompleteResponse | PendingResponse);

/** The request that a stored response belongs to. */
export interface ReceiptKey {
	/** Whose key it is: workspace (or deployment and visitor), method and path. */
	scope: string;
	key: string;
	/** SHA-256 of the canonical body, hexadecimal. */
	body_hash: string;
	/** Milliseconds since the epoch. */
	expires_at: number;
	/** Whether a response under the key counts although it has expired: the clock is suspect. It is not stored. */
	accept_expired?: boolean;
}

/** The response to store under an idempotency key, in the transaction of the change that it reports. */
export type IdempotencyRecord = CompleteReceipt | (ReceiptKey & PendingResponse & ReceiptSubject);

/** A receipt whose response is complete. */
export type CompleteReceipt = ReceiptKey & CompleteResponse & ReceiptSubject;

interface ReceiptSubject {
	/** The conversation that the response shows, if any: the response is erased with it. */
	subject?: string | null;
}

/**
 * A change as a value: the domain decides, the store carries it out in one transaction, all of it or nothing.
 */
export interface Commit {
	expect?: Expectation[];
	write?: Write[];
	events?: NewEvent[];
	jobs?: JobWrite[];
	idempotency?: IdempotencyRecord;
}

/** How a commit ended. */
export type CommitOutcome =
	| { outcome: 'committed' /** Of `events`, in their order. */; seqs: number[] }
	/** An expectation was not met, or a record to patch is gone. Nothing was written. */
	| { outcome: 'conflict'; kind: Kind; id: string }
	/** Another owner has taken over. Nothing was written, nor will be. */
	| { outcome: 'fenced' }
	/** The idempotency key has an answer already. Nothing was written. */
	| ({ outcome: 'replay' } & StoredResponse);
