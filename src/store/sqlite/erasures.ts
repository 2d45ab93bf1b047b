import { completeErasureCounts, type ErasureCounts } from '../erasure-record.ts';
import type { Prepare } from './statements.ts';

/**
 * Erasures of end users. `end_user_id` and `visitor_key` are null once the rows are erased: what stays is no personal data.
 * Part of a released migration step.
 */
export const ERASURES_SCHEMA = `
	CREATE TABLE erasures (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, status TEXT NOT NULL, end_user_id TEXT,
		visitor_key TEXT, counts TEXT NOT NULL, erased_at INTEGER, completed_at INTEGER, backups TEXT,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX erasures_by_creation ON erasures (workspace_id, created_at, id);
	CREATE INDEX erasures_by_status ON erasures (status, created_at, id) WHERE status <> 'done';
	CREATE UNIQUE INDEX erasures_by_end_user ON erasures (workspace_id, end_user_id) WHERE end_user_id IS NOT NULL;

	ALTER TABLE audit_log ADD COLUMN details TEXT;
`;

/** The erasure of an end user that a conversation belongs to. */
export interface RunningErasure {
	id: string;
	/** Null for the remaining rows of a conversation. */
	scope: string | null;
}

/** The running erasure whose end user a conversation has, or had before its record was erased; undefined: none. */
export function runningErasureOf(
	prepare: Prepare,
	conversationId: string,
	jobKind: string,
): RunningErasure | undefined {
	const ofConversation = prepare(
		`SELECT erasures.id, deployment_id || ' ' || visitor_key || ' ' AS scope FROM conversations
		 JOIN erasures ON erasures.workspace_id = conversations.workspace_id
		 AND erasures.end_user_id = conversations.end_user_id WHERE conversations.id = ?`,
	).get(conversationId);
	const ofRemains = () =>
		prepare(
			`SELECT erasures.id, NULL AS scope FROM jobs JOIN erasures ON erasures.id = fair_group WHERE ref = ? AND kind = ?`,
		).get(conversationId, jobKind);
	return (ofConversation ?? ofRemains()) as RunningErasure | undefined;
}

/** Adds to the counts of an erasure, in the transaction that erases the rows. */
export function addErased(prepare: Prepare, id: string, erased: Partial<ErasureCounts>): void {
	const stored = prepare('SELECT counts FROM erasures WHERE id = ?').pluck().get(id) as string;
	const counts = completeErasureCounts(JSON.parse(stored));
	for (const [place, count] of Object.entries(erased)) counts[place as keyof ErasureCounts] += count;
	prepare('UPDATE erasures SET version = version + 1, counts = ? WHERE id = ?').run(JSON.stringify(counts), id);
}

/** Ends the erasure of an end user's rows, if none is left; see the write `end_erasure`. */
export function endErasure(prepare: Prepare, id: string, at: number, jobKind: string): void {
	prepare(
		`UPDATE erasures SET version = version + 1, status = 'overwriting', end_user_id = NULL, visitor_key = NULL,
		 erased_at = @at, updated_at = @at
		 WHERE id = @id AND status = 'erasing'
		 AND NOT EXISTS (
			SELECT 1 FROM conversations
			WHERE workspace_id = erasures.workspace_id AND end_user_id = erasures.end_user_id AND end_user_id IS NOT NULL
		 )
		 AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = @jobKind)`,
	).run({ id, at, jobKind });
}
