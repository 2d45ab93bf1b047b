import { CONVERSATION_ERASURE_JOB } from '../commit.ts';
import { type ErasureCounts, NOTHING_ERASED } from '../erasure-record.ts';
import type { Sql } from './sql.ts';

/** Adds to the counts of an erasure, in the transaction that erases the rows. */
export async function addErased(sql: Sql, id: string, erased: Partial<ErasureCounts>): Promise<void> {
	await sql.run(
		`UPDATE erasures SET version = version + 1, counts = (
			SELECT json_object_agg(place, count::bigint + coalesce((@erased::jsonb ->> place)::bigint, 0))
			FROM jsonb_each_text(@none::jsonb || counts::jsonb) AS stored (place, count)
		 )
		 WHERE id = @id`,
		{ id, erased: JSON.stringify(erased), none: JSON.stringify(NOTHING_ERASED) },
	);
}

/**
 * Ends the erasure of an end user's rows, if none is left; see the write `end_erasure`. Other transactions only remove the rows that
 * it looks for, or put a job in the place of a conversation: it never sees too few of them.
 */
export async function endErasure(sql: Sql, id: string, at: number): Promise<void> {
	await sql.run(
		`UPDATE erasures SET version = version + 1, status = 'overwriting', end_user_id = NULL, visitor_key = NULL,
			erased_at = @at, updated_at = @at
		 WHERE id = @id AND status = 'erasing'
		 AND NOT EXISTS (
			SELECT 1 FROM conversations
			WHERE workspace_id = erasures.workspace_id AND end_user_id = erasures.end_user_id AND end_user_id IS NOT NULL
		 )
		 AND (SELECT min(due_at) FROM jobs WHERE kind = @job_kind) IS NULL`,
		{ id, at, job_kind: CONVERSATION_ERASURE_JOB },
	);
}
