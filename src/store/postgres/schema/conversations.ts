/** The records of conversations. */
export const CONVERSATION_TABLES = `
	CREATE TABLE conversations (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, deployment_id string NOT NULL,
		assistant_id string NOT NULL, channel string NOT NULL, status string NOT NULL, title string, metadata string NOT NULL,
		end_user_id string, end_user string, handled_by string NOT NULL, message_count bigint NOT NULL,
		last_message_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL, archived_at bigint,
		taken_over_by string, requested_person_at bigint, contact_email string, assignee_id string, cost_micros bigint,
		visitor_id string
	);
	CREATE INDEX conversations_by_activity ON conversations (workspace_id, coalesce(last_message_at, created_at), id);
	CREATE INDEX conversations_by_assistant ON conversations (assistant_id, created_at, id);
	CREATE INDEX conversations_by_creation ON conversations (workspace_id, created_at, id);
	CREATE INDEX conversations_by_deployment ON conversations (deployment_id, created_at, id);
	CREATE INDEX conversations_by_end_user ON conversations (workspace_id, end_user_id, created_at, id) WHERE end_user_id IS NOT NULL;
	CREATE INDEX conversations_by_request ON conversations (workspace_id, created_at, id) WHERE requested_person_at IS NOT NULL;
	CREATE INDEX conversations_by_spender ON conversations (visitor_id) WHERE visitor_id IS NOT NULL;
	CREATE INDEX conversations_by_status ON conversations (workspace_id, status, created_at, id);
	CREATE INDEX conversations_by_visitor ON conversations (deployment_id, end_user_id, created_at, id) WHERE end_user_id IS NOT NULL;

	CREATE TABLE messages (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, conversation_id string NOT NULL,
		seq bigint NOT NULL, role string NOT NULL, author string NOT NULL, content string NOT NULL, status string NOT NULL,
		model string, citations string NOT NULL, tool_calls string NOT NULL, usage string, error string, feedback string,
		attempts bigint NOT NULL, created_at bigint NOT NULL, completed_at bigint, feedback_comment string,
		answered_by string, first_token_ms bigint, duration_ms bigint, cost_micros bigint
	);
	CREATE UNIQUE INDEX messages_in_order ON messages (conversation_id, seq);
	CREATE INDEX messages_rated_down ON messages (conversation_id) WHERE feedback = 'down';
	CREATE INDEX messages_unfinished ON messages (conversation_id, id) WHERE status = 'in_progress';

	CREATE TABLE reply_rounds (
		id string PRIMARY KEY, version bigint NOT NULL, message_id string NOT NULL, number bigint NOT NULL,
		model string NOT NULL, text string NOT NULL, usage string, memory string, grounding string, created_at bigint NOT NULL
	);
	CREATE UNIQUE INDEX reply_rounds_in_order ON reply_rounds (message_id, number);

	CREATE TABLE reply_calls (
		id string PRIMARY KEY, version bigint NOT NULL, message_id string NOT NULL, round bigint NOT NULL,
		number bigint NOT NULL, call string NOT NULL, created_at bigint NOT NULL
	);
	CREATE UNIQUE INDEX reply_calls_in_order ON reply_calls (message_id, number);

	CREATE TABLE notes (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, conversation_id string NOT NULL,
		author string NOT NULL, content string NOT NULL, created_at bigint NOT NULL
	);
	CREATE INDEX notes_by_conversation ON notes (conversation_id, created_at, id);

	CREATE TABLE erasures (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, status string NOT NULL,
		end_user_id string, visitor_key string, counts string NOT NULL, erased_at bigint, completed_at bigint, backups string,
		created_at bigint NOT NULL, updated_at bigint NOT NULL
	);
	CREATE INDEX erasures_by_creation ON erasures (workspace_id, created_at, id);
	CREATE UNIQUE INDEX erasures_by_end_user ON erasures (workspace_id, end_user_id) WHERE end_user_id IS NOT NULL;
	CREATE INDEX erasures_by_status ON erasures (status, created_at, id) WHERE status <> 'done';

	CREATE FUNCTION remove_rounds_of_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM reply_rounds WHERE message_id = OLD.id;
		DELETE FROM reply_calls WHERE message_id = OLD.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER rounds_go_with_their_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION remove_rounds_of_message();
`;
