/**
 * The index of messages for the search of the inbox. An entry and the message that it is made from are removed together: a transaction that
 * removes messages or conversations waits for the node that derives the inbox, which may just have read them.
 */
export const MESSAGE_SEARCH_TABLES = `
	CREATE TABLE searchable_messages (
		message_id string PRIMARY KEY, workspace_id string NOT NULL, conversation_id string NOT NULL, created_at bigint NOT NULL,
		words string NOT NULL, lexemes tsvector NOT NULL
	);
	CREATE INDEX searchable_by_conversation ON searchable_messages (conversation_id, created_at, message_id);
	CREATE INDEX searchable_by_creation ON searchable_messages (workspace_id, created_at, message_id);
	CREATE INDEX searchable_by_lexeme ON searchable_messages USING gin (lexemes) WITH (gin_pending_list_limit = 256);

	CREATE FUNCTION lock_inbox() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM 1 FROM inbox_progress FOR UPDATE;
		RETURN OLD;
	END $$;
	CREATE TRIGGER inbox_is_locked_before_its_conversation_goes BEFORE DELETE ON conversations
	FOR EACH ROW EXECUTE FUNCTION lock_inbox();

	CREATE FUNCTION remove_search_of_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM 1 FROM inbox_progress FOR UPDATE;
		DELETE FROM searchable_messages WHERE message_id = OLD.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER search_goes_with_its_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION remove_search_of_message();
`;
