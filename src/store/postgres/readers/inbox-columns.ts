/** The columns of a row, for the reader `@reader`. */
export const INBOX_COLUMNS = `rows.conversation_id, rows.workspace_id, status, deployment_id, assignee_id, activity_at, last_seq,
	waiting_since, rated_down, unanswered, reads.seq AS read_seq`;
/** What the reader `@reader` has read. */
export const WITH_READS =
	'LEFT JOIN inbox_reads AS reads ON reads.reader = @reader AND reads.conversation_id = rows.conversation_id';
