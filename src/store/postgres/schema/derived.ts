/** What is derived from the log of events: the inbox, statistics and costs. */
export const DERIVED_TABLES = `
	CREATE TABLE inbox_progress (
		id bigint PRIMARY KEY CHECK (id = 1), seq bigint NOT NULL, filled_conversation string, filled_seq bigint NOT NULL
	);

	CREATE TABLE inbox_rows (
		conversation_id string PRIMARY KEY, workspace_id string NOT NULL, status string NOT NULL,
		deployment_id string NOT NULL, assignee_id string, activity_at bigint NOT NULL, last_seq bigint NOT NULL,
		waiting_since bigint, rated_down bigint NOT NULL, unanswered bigint NOT NULL
	);
	CREATE INDEX inbox_by_activity ON inbox_rows (workspace_id, status, activity_at, conversation_id);
	CREATE INDEX inbox_by_assignee ON inbox_rows (workspace_id, status, assignee_id, activity_at, conversation_id) WHERE assignee_id IS NOT NULL;
	CREATE INDEX inbox_by_deployment ON inbox_rows (workspace_id, status, deployment_id, activity_at, conversation_id);
	CREATE INDEX inbox_rated_down ON inbox_rows (workspace_id, status, activity_at, conversation_id) WHERE rated_down = 1;
	CREATE INDEX inbox_unanswered ON inbox_rows (workspace_id, status, activity_at, conversation_id) WHERE unanswered = 1;
	CREATE INDEX inbox_waiting ON inbox_rows (workspace_id, status, activity_at, conversation_id) WHERE waiting_since IS NOT NULL;

	CREATE TABLE inbox_reads (
		reader string NOT NULL, conversation_id string NOT NULL, seq bigint NOT NULL, PRIMARY KEY (reader, conversation_id)
	);
	CREATE INDEX inbox_reads_by_conversation ON inbox_reads (conversation_id);

	CREATE TABLE inbox_readers (
		reader string PRIMARY KEY, read_before bigint NOT NULL
	);

	CREATE TABLE statistics_state (
		id bigint PRIMARY KEY CHECK (id = 1), seq bigint NOT NULL, complete_since bigint NOT NULL, rebuilt_to bigint NOT NULL,
		hours_from bigint NOT NULL, days_from bigint NOT NULL
	);

	CREATE TABLE figures (
		workspace_id string NOT NULL, series string NOT NULL, start bigint NOT NULL, figure string NOT NULL,
		key string NOT NULL, deployment_id string NOT NULL, assistant_id string NOT NULL, logged bigint NOT NULL,
		erased bigint NOT NULL, PRIMARY KEY (workspace_id, series, start, figure, key, deployment_id, assistant_id)
	);

	CREATE TABLE cited_documents (
		document_id string PRIMARY KEY, last_cited_at bigint NOT NULL
	);

	CREATE TABLE question_groups (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, status string NOT NULL,
		document_id string, resolved_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL
	);
	CREATE INDEX question_groups_by_creation ON question_groups (workspace_id, created_at, id);

	CREATE TABLE unanswered_questions (
		message_id string PRIMARY KEY, workspace_id string NOT NULL, conversation_id string NOT NULL,
		deployment_id string NOT NULL, assistant_id string NOT NULL, question string NOT NULL, terms string, group_id string,
		asked_at bigint NOT NULL
	);
	CREATE INDEX unanswered_by_conversation ON unanswered_questions (conversation_id);
	CREATE INDEX unanswered_by_group ON unanswered_questions (group_id, asked_at, message_id);
	CREATE INDEX unanswered_ungrouped ON unanswered_questions (asked_at, message_id) WHERE group_id IS NULL;
	CREATE INDEX unanswered_by_time ON unanswered_questions (workspace_id, asked_at, message_id);

	CREATE TABLE spending (
		workspace_id string NOT NULL, dimension string NOT NULL, account string NOT NULL, day bigint NOT NULL,
		spent bigint NOT NULL, reserved bigint NOT NULL, PRIMARY KEY (workspace_id, dimension, account, day)
	);
	CREATE INDEX spending_by_day ON spending (dimension, day);

	-- node_epoch: of the node that has reserved; 0: it has ended.
	CREATE TABLE spending_reservations (
		message_id string PRIMARY KEY, conversation_id string NOT NULL, workspace_id string NOT NULL,
		deployment_id string NOT NULL, visitor_id string, model string NOT NULL, day bigint NOT NULL, amount bigint NOT NULL,
		node_epoch bigint NOT NULL DEFAULT 0
	);
	CREATE INDEX spending_reservations_by_conversation ON spending_reservations (conversation_id);

	CREATE TABLE budget_notices (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, account string NOT NULL,
		created_at bigint NOT NULL, expires_at bigint NOT NULL
	);
	CREATE INDEX budget_notices_by_account ON budget_notices (account);
	CREATE INDEX budget_notices_by_expiry ON budget_notices (expires_at);

	CREATE FUNCTION remove_inbox_of_conversation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM inbox_rows WHERE conversation_id = OLD.id;
		DELETE FROM inbox_reads WHERE conversation_id = OLD.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER inbox_goes_with_its_conversation AFTER DELETE ON conversations
	FOR EACH ROW EXECUTE FUNCTION remove_inbox_of_conversation();

	CREATE FUNCTION remove_inbox_of_user() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM inbox_reads WHERE reader = OLD.id;
		DELETE FROM inbox_readers WHERE reader = OLD.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER inbox_goes_with_its_user AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION remove_inbox_of_user();

	CREATE FUNCTION remove_citation_of_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM cited_documents WHERE document_id = OLD.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER citations_go_with_their_document AFTER DELETE ON documents
	FOR EACH ROW EXECUTE FUNCTION remove_citation_of_document();

	INSERT INTO inbox_progress VALUES (1, 0, '', 0);
	INSERT INTO statistics_state VALUES (1, 0, 0, 0, 0, 0);
`;
