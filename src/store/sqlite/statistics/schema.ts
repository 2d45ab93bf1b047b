/**
 * Tables of statistics, which the writer derives from the log of events. Part of a released migration step. `figures` has sums
 * by hour and by day: `logged` from events that are in the log or have expired, `erased` from those of erased conversations.
 */
export const STATISTICS_SCHEMA = `
	CREATE TABLE statistics_state (
		id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, complete_since INTEGER NOT NULL, rebuilt_to INTEGER NOT NULL,
		hours_from INTEGER NOT NULL, days_from INTEGER NOT NULL
	) STRICT;
	INSERT INTO statistics_state VALUES (1, 0, 0, 0, 0, 0);

	CREATE TABLE figures (
		workspace_id TEXT NOT NULL, series TEXT NOT NULL, start INTEGER NOT NULL, figure TEXT NOT NULL, key TEXT NOT NULL,
		deployment_id TEXT NOT NULL, assistant_id TEXT NOT NULL, logged INTEGER NOT NULL, erased INTEGER NOT NULL,
		PRIMARY KEY (workspace_id, series, start, figure, key, deployment_id, assistant_id)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE cited_documents (document_id TEXT PRIMARY KEY, last_cited_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
	CREATE TRIGGER citations_go_with_their_document AFTER DELETE ON documents BEGIN
		DELETE FROM cited_documents WHERE document_id = OLD.id;
	END;

	CREATE TABLE question_groups (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, status TEXT NOT NULL, document_id TEXT,
		resolved_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX question_groups_by_creation ON question_groups (workspace_id, created_at, id);

	CREATE TABLE unanswered_questions (
		message_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, conversation_id TEXT NOT NULL, deployment_id TEXT NOT NULL,
		assistant_id TEXT NOT NULL, question TEXT NOT NULL, terms TEXT, group_id TEXT, asked_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX unanswered_by_time ON unanswered_questions (workspace_id, asked_at, message_id);
	CREATE INDEX unanswered_by_conversation ON unanswered_questions (conversation_id);
	CREATE INDEX unanswered_by_group ON unanswered_questions (group_id, asked_at, message_id);
`;
