import type { ListPosition } from './list-position.ts';

/** A change of the inbox: rows that are derived from conversations, and what each reader has read. */
export type InboxWrite =
	/**
	 * Brings the inbox and the index of messages up to date with the next events of the log, at most `limit`, and after them with
	 * messages from before the inbox existed. The position in the log is stored in the same transaction.
	 */
	| { op: 'inbox.project'; limit: number }
	/** Derives the row of one conversation again. */
	| { op: 'inbox.refresh'; conversation_id: string }
	/** Sets the last message that a reader has read. */
	| { op: 'inbox.read'; reader: string; conversation_id: string; seq: number }
	/** Sets the time before which everything counts as read by a reader. */
	| { op: 'inbox.read_before'; reader: string; at: number }
	/** Removes every derived row. `inbox.project` derives them again. What was read stays. */
	| { op: 'inbox.rebuild' };

/** What the inbox has of a conversation. */
export interface InboxRow {
	conversation_id: string;
	workspace_id: string;
	status: 'active' | 'archived';
	deployment_id: string;
	assignee_id: string | null;
	/** The time of its last message. */
	activity_at: number;
	/** The number of its last message. */
	last_seq: number;
	/** Since when a visitor waits for a person; null: the visitor does not wait. */
	waiting_since: number | null;
	/** Whether a reply has the rating `down`. */
	rated_down: 0 | 1;
	/** Whether the last reply is the model's and failed, or says that there is no answer. */
	unanswered: 0 | 1;
	/** The last message that the reader has read; null: none. */
	read_seq: number | null;
}

/** Which rows to list. Conditions are combined with AND. */
export interface InboxFilter {
	workspaceId: string;
	status: InboxRow['status'];
	deploymentId?: string | undefined;
	/** A user; null: conversations without an assignee. */
	assigneeId?: string | null | undefined;
	isWaiting?: boolean | undefined;
	isRatedDown?: boolean | undefined;
	isUnanswered?: boolean | undefined;
	isUnread?: boolean | undefined;
}

/** Who reads. */
export interface InboxReaderIdentity {
	/** The id of a user or of an API key. */
	id: string;
	/** Everything before this time (ms since the epoch) counts as read. */
	readBefore: number;
}

/** A page of rows. It may be short although more follow: each request scans a bounded number of rows. */
export interface InboxPage<R = InboxRow> {
	rows: R[];
	/** The position from which to continue; null at the end. */
	next: ListPosition | null;
}

/** A row with the newest of its messages that match a search. */
export interface InboxMatch extends InboxRow {
	message_id: string;
}

/** The last message of a conversation, with the beginning of its text. */
export interface MessagePreview {
	id: string;
	role: 'user' | 'assistant';
	author: { type: 'visitor' | 'model' | 'human'; name: string | null };
	text: string;
	status: 'completed' | 'in_progress' | 'stopped' | 'failed';
	created_at: number;
}

/**
 * One word, or several that follow each other. Words are compared without case and marks. Each character of a script without spaces
 * between words is a word (`separateCharacters`), so a run of them is a phrase.
 */
export interface SearchTerm {
	text: string;
	/** Whether longer words that begin with its last word match too. */
	isPrefix: boolean;
}

/** Queries about the inbox. */
export interface InboxReader {
	/** Rows by their activity, the latest first. */
	list(
		filter: InboxFilter,
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage>;
	/** Rows with a message that has all of the terms, by the newest such message, the latest first. @param terms at least one */
	search(
		filter: InboxFilter,
		terms: readonly SearchTerm[],
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage<InboxMatch>>;
	row(conversationId: string, readerId: string): Promise<InboxRow | undefined>;
	preview(conversationId: string): Promise<MessagePreview | undefined>;
	/** Messages of a conversation after a time, at most 100. */
	messagesSince(conversationId: string, at: number): Promise<number>;
	/** The time before which everything counts as read by a reader. */
	readBefore(readerId: string): Promise<number>;
	/** The position in the log up to which the inbox is derived, and whether messages from before it existed remain. */
	progress(): Promise<{ seq: number; isFilled: boolean }>;
}
