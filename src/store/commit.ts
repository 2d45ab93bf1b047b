import type { InboxWrite } from './inbox.ts';
import type { SourcePageRecord } from './knowledge-records.ts';
import type { ShardFence } from './placement.ts';
import type { Kind, Records } from './records.ts';
import type { IndexWrite } from './search-index.ts';
import type { SpendingLimit, SpendingWrite } from './spending.ts';

/** A record that must be at this version, or the commit is a conflict. Version 0: there must be no record. */
export interface Expectation {
	kind: Kind;
	id: string;
	version: number;
}

type Insert = { [K in Kind]: { op: 'insert'; kind: K; record: Omit<Records[K], 'version'> } }[Kind];
type Patch = {
	[K in Kind]: { op: 'patch'; kind: K; id: string; set: Partial<Omit<Records[K], 'id' | 'version' | 'created_at'>> };
}[Kind];

/** One typed operation. A patch leaves undefined fields unchanged; a patch of a missing record makes the commit a conflict. */
export type Write =
	| Insert
	| Patch
	| { op: 'remove'; kind: Kind; id: string }
	/** Removes the rounds of a reply with their calls. The removal of a message includes this. */
	| { op: 'erase_rounds'; message_id: string }
	/**
	 * Removes a conversation, and at most `limit` (without it: all) of its messages and notes, of the events about it with their
	 * deliveries, and of the stored responses that show it. If rows remain, the same transaction adds a job of the kind
	 * `CONVERSATION_ERASURE_JOB`; the same write repeated removes them.
	 */
	| { op: 'erase_conversation'; id: string; limit?: number }
	/**
	 * Ends the erasure of an end user's rows: it becomes `overwriting` and forgets the end user. Changes nothing while a conversation of
	 * the end user exists, or a job that erases the rest of any conversation: its end user is not known any more. While an erasure is `erasing`, each `erase_conversation` of its end
	 * user adds what it removes to the counts of the erasure.
	 */
	| { op: 'end_erasure'; id: string; at: number }
	/** Removes the responses to refused requests whose scopes begin so, for the erasure of an end user, which counts them. */
	| { op: 'erase_refusals'; erasure_id: string; scopes: readonly string[] }
	/** Removes a knowledge base with its sources and documents, every generation of its index and every job about any of them. */
	| { op: 'erase_knowledge_base'; id: string }
	/** Removes all sessions of a user except the named one. */
	| { op: 'end_sessions'; user_id: string; except?: string }
	/**
	 * Removes stored responses, sessions, records of the audit log and notices of budgets that expired before a time (ms since the
	 * epoch), and costs that are too old by then: at most `limit` of each. On PostgreSQL also rows of indexes that were dropped.
	 */
	| { op: 'erase_expired'; before: number; limit: number }
	/** Removes every stored response that is sealed with the server's secret key. */
	| { op: 'erase_sealed_responses' }
	| DeliveryWrite
	| SourceWrite
	| InboxWrite
	| StatisticsWrite
	| SpendingWrite
	| IndexWrite;

/** An address that a run has found. */
export interface FoundPage {
	kind: SourcePageRecord['kind'];
	/** In canonical form. */
	url: string;
	/** As it was linked, if that differs. */
	fetch_url: string | null;
	depth: number;
}

/** A change of the pages of a source. */
export type SourceWrite =
	/** Empties the frontier. */
	| { op: 'sources.clear_frontier'; source_id: string }
	/**
	 * Adds addresses that this run has not found yet to its frontier, up to the limits, and counts the found pages in the
	 * source's record.
	 */
	| {
			op: 'sources.find_pages';
			source_id: string;
			run: number;
			pages: FoundPage[];
			max_pages: number;
			max_sitemaps: number;
			at: number;
	  }
	/** Adds the pages in whose place this page counted to the frontier again. */
	| { op: 'sources.find_duplicates'; source_id: string; run: number; target_url: string }
	/** Removes the sitemaps that a complete run has not found, so that sitemaps with new names have a place. */
	| { op: 'sources.remove_sitemaps'; source_id: string; run: number }
	/** Removes a source and its pages. Its documents were removed before. */
	| { op: 'sources.erase'; source_id: string };

/** A change of the statistics, which are derived from the log of events. */
export type StatisticsWrite =
	/** Counts the next events of the log, at most `limit`. */
	| { op: 'statistics.project'; limit: number }
	/** Makes the following `statistics.project` count the log again from its beginning. */
	| { op: 'statistics.rebuild' }
	/** Removes figures by hour that are older than 60 days. */
	| { op: 'statistics.trim'; now: number; limit: number }
	/** Puts a question without an answer into a group, unless it has one. */
	| { op: 'statistics.group'; message_id: string; group_id: string; terms: readonly string[] };

/** A change of deliveries beyond those that the commit of an event adds. `limit` bounds one commit. */
export type DeliveryWrite =
	/** Cancels pending deliveries of an endpoint. */
	| { op: 'cancel_deliveries'; webhook_id: string; at: number; limit: number }
	/** Removes deliveries of a deleted endpoint, with their attempts. */
	| { op: 'erase_deliveries'; webhook_id: string; limit: number }
	/**
	 * Removes events from before a time (ms since the epoch) without pending deliveries, together with their deliveries. After
	 * 30 more days it also removes events with pending deliveries. Each write scans some thousands; the next one continues there.
	 */
	| { op: 'erase_events'; before: number; limit: number }
	/** Makes these events (commit sequences) due again at an endpoint. Pending deliveries stay as they are. */
	| { op: 'redeliver'; webhook_id: string; seqs: number[]; at: number }
	/** Records a failed attempt. The time of the first failure since the last success is kept. */
	| { op: 'record_failure'; webhook_id: string; at: number }
	/** Removes the recorded failures: an attempt has succeeded, or the endpoint starts again. */
	| { op: 'clear_failures'; webhook_id: string };

/**
 * An event that is stored with the change that it reports. An event of a workspace's stream is due at once at each active
 * webhook endpoint that subscribes to its type: its deliveries are stored with it.
 */
export interface NewEvent {
	/** `evt_…` */
	id: string;
	/** The id of a workspace (for webhooks and the event log) or of a conversation (for its event stream). */
	stream: string;
	type: string;
	data: unknown;
	/** The conversation that it is about, or the visitor whose budget it is about: both are erased together. Null or absent: neither. */
	subject?: string | null;
	created_at: number;
}

/** An event with its commit sequence, which orders all events of the store. */
export interface StoredEvent extends NewEvent {
	seq: number;
}

/** Durable work: it survives the end of the process. */
export interface Job {
	id: string;
	kind: string;
	/** The id of what it is about. */
	ref: string;
	/** Jobs are claimed fairly across groups. */
	group: string;
	/** Not before this time (ms since the epoch). */
	due_at: number;
	/** Claims since it was enqueued or postponed, including this one. Each earlier claim ended with its process. */
	attempts: number;
}

/** A change of the queue of jobs. */
export type JobWrite =
	/** With `unless_queued` only if no job with the same kind and ref waits or runs. */
	| { op: 'enqueue'; job: Omit<Job, 'attempts'>; unless_queued?: true }
	/** Removes the job, done or given up. */
	| { op: 'complete'; id: string }
	/** Ends its claim, makes it due at this time, and counts its attempts from zero again. */
	| { op: 'postpone'; id: string; due_at: number }
	/** Ends its claim as if it had not been claimed: it is due at once, and its earlier claims still count. */
	| { op: 'give_back'; id: string }
	/** Counts its present claim as the first. The claim stays. */
	| { op: 'restart_attempts'; id: string }
	/** Makes postponed jobs of a kind due at once; only of one group or about one id, if named. */
	| { op: 'make_due'; kind: string; group?: string; ref?: string }
	/** Removes every job about this id; only of one kind, if named. */
	| { op: 'complete_all'; ref: string; kind?: string };

/** The kind of the jobs that erase the remaining rows of erased conversations; `ref` is the conversation. */
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

/** What is stored under an idempotency key. `body_hash` is `ERASED_BODY_HASH` where the conversation of the request has been erased. */
export type StoredResponse = { body_hash: string } & (CompleteResponse | PendingResponse);

/** The request that a stored response belongs to. */
export interface ReceiptKey {
	/** What the key is unique in: workspace (or deployment and visitor), method and path. */
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

/**
 * The receipt of a request to an actor, which completes it with its response and commits it with its change. Plain data: it is part of
 * the message.
 */
export interface RequestReceipt extends ReceiptKey {
	/** The HTTP status to store with a complete response. */
	status: number;
}

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
	/** Absent: it belongs to no shard, or the store has one owner. */
	fence?: ShardFence;
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
	/** These accounts have not enough left for a reservation. Nothing was written. */
	| { outcome: 'over_budget'; exceeded: SpendingLimit['dimension'][] }
	/** Another owner has taken over. Nothing was written, nor will be. */
	| { outcome: 'fenced' }
	/** The idempotency key has an answer already. Nothing was written. */
	| ({ outcome: 'replay' } & StoredResponse);
