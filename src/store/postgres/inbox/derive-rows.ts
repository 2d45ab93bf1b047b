import type { Sql } from '../sql.ts';

/** Messages that are read to find who waits. A visitor who has sent more since then waits at least since the first of them. */
const RECENT_MESSAGES = 50;

/**
 * Derives the inbox rows of conversations. An erased conversation has none. The caller holds the lock of the inbox.
 *
 * Since when a visitor waits: the request for a person, or after a takeover the first message since the last reply. A conversation is
 * unanswered if its last finished reply is the model's and failed, or says that there is no answer. The author is JSON, and a quote
 * within a name has a backslash before it, so that the name cannot look like the type.
 */
export async function deriveRows(sql: Sql, ids: readonly string[]): Promise<void> {
	if (ids.length === 0) return;
	await sql.run(
		`INSERT INTO inbox_rows (conversation_id, workspace_id, status, deployment_id, assignee_id, activity_at, last_seq,
			waiting_since, rated_down, unanswered)
		 SELECT c.id, c.workspace_id, c.status, c.deployment_id, c.assignee_id, coalesce(c.last_message_at, c.created_at),
			c.message_count,
			CASE WHEN c.status = 'archived' THEN NULL WHEN c.handled_by = 'model' THEN c.requested_person_at ELSE recent.since END,
			EXISTS (SELECT 1 FROM messages WHERE conversation_id = c.id AND feedback = 'down')::int,
			coalesce(recent.is_unanswered, false)::int
		 FROM conversations AS c CROSS JOIN LATERAL (
			SELECT min(created_at) FILTER (WHERE seq = first_unanswered) AS since,
				bool_or(seq = last_ended AND strpos(author, '"type":"model"') > 0
					AND (status = 'failed' OR answered_by IS NOT DISTINCT FROM 'none')) AS is_unanswered
			FROM (
				SELECT *, min(seq) FILTER (WHERE seq > coalesce(last_reply, 0)) OVER () AS first_unanswered
				FROM (
					SELECT seq, author, status, answered_by, created_at,
						max(seq) FILTER (WHERE role = 'assistant') OVER () AS last_reply,
						max(seq) FILTER (WHERE role = 'assistant' AND status <> 'in_progress') OVER () AS last_ended
					FROM (
						SELECT seq, role, author, status, answered_by, created_at FROM messages
						WHERE conversation_id = c.id ORDER BY seq DESC LIMIT ${RECENT_MESSAGES}
					) AS newest
				) AS with_last
			) AS with_first
		 ) AS recent
		 WHERE c.id = ANY(@ids) ORDER BY c.id
		 ON CONFLICT (conversation_id) DO UPDATE SET workspace_id = excluded.workspace_id, status = excluded.status,
			deployment_id = excluded.deployment_id, assignee_id = excluded.assignee_id, activity_at = excluded.activity_at,
			last_seq = excluded.last_seq, waiting_since = excluded.waiting_since, rated_down = excluded.rated_down,
			unanswered = excluded.unanswered`,
		{ ids },
	);
}
