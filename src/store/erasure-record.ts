import type { WorkspaceScopedRecord } from './versioned-record.ts';

/** Rows that an erasure has removed, by their place. */
export interface ErasureCounts {
	conversations: number;
	messages: number;
	/** Rounds of the model that an unfinished reply was made of, and their tool calls. */
	reply_rounds: number;
	notes: number;
	events: number;
	deliveries: number;
	delivery_attempts: number;
	/** Responses stored under an Idempotency-Key. */
	stored_responses: number;
	/** Messages in the index of the inbox. */
	search_entries: number;
	/** Rows of the inbox, and what each person has read. */
	inbox_rows: number;
	/** Questions without an answer in the statistics. */
	unanswered_questions: number;
	/** Of the visitor's costs: sums by day, reservations of replies, and notices that a budget was reported. */
	cost_rows: number;
}

/** The counts at the beginning. */
export const NOTHING_ERASED: ErasureCounts = {
	conversations: 0,
	messages: 0,
	reply_rounds: 0,
	notes: 0,
	events: 0,
	deliveries: 0,
	delivery_attempts: 0,
	stored_responses: 0,
	search_entries: 0,
	inbox_rows: 0,
	unanswered_questions: 0,
	cost_rows: 0,
};

/** The counts of an erasure as they are stored: an earlier version may have stored fewer places. */
export function completeErasureCounts(stored: Partial<ErasureCounts>): ErasureCounts {
	return { ...NOTHING_ERASED, ...stored };
}

/** When copies of the database that were made before the end of an erasure are gone (ms since the epoch). */
export interface BackupExpiry {
	/** Of the server's own backups; null: it makes none. */
	backups_gone_at: number | null;
	/** Of the copies from before an upgrade; null: there is none. */
	upgrade_copies_gone_at: number | null;
}

/** The erasure of one end user. `erasing` removes rows, `overwriting` what stays of them in the files. */
export interface ErasureRecord extends WorkspaceScopedRecord {
	status: 'erasing' | 'overwriting' | 'done';
	/** Null once the rows are erased. */
	end_user_id: string | null;
	/** What identifies the end user in the scopes of stored responses. */
	visitor_key: string | null;
	counts: ErasureCounts;
	/** When the last row was erased. */
	erased_at: number | null;
	completed_at: number | null;
	backups: BackupExpiry | null;
}
