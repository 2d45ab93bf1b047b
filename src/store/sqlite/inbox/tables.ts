/** The workspace and the conversation of a message as two words of the full-text index. @param row the message's row */
export const placeOf = (row: string) =>
	`replace(${row}.workspace_id, '_', '') || ' ' || replace(${row}.conversation_id, '_', '')`;

/** Of a longer message the beginning is indexed. */
const beginning = (row: string) => `substr(${row}.content, 1, 32000)`;

/** The text of a message as the index has it. The writable connection has the function `separate_characters`. */
export const indexedText = (row: string) => `separate_characters(${beginning(row)})`;

/**
 * The inbox: a row for each conversation, what each reader has read, and the index of messages. The index stores no copy of the
 * texts: an entry is removed with the text that it was made from, so only messages whose text never changes are in it.
 */
export const INBOX_SCHEMA = `
	ALTER TABLE conversations ADD COLUMN assignee_id TEXT;
	CREATE INDEX messages_rated_down ON messages (conversation_id) WHERE feedback = 'down';

	CREATE TABLE inbox_progress (
		id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, filled_conversation TEXT, filled_seq INTEGER NOT NULL
	) STRICT;
	INSERT INTO inbox_progress
	SELECT 1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0), '', 0;

	CREATE TABLE inbox_rows (
		conversation_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, status TEXT NOT NULL, deployment_id TEXT NOT NULL,
		assignee_id TEXT, activity_at INTEGER NOT NULL, last_seq INTEGER NOT NULL, waiting_since INTEGER,
		rated_down INTEGER NOT NULL, unanswered INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX inbox_by_activity ON inbox_rows (workspace_id, status, activity_at, conversation_id);
	CREATE INDEX inbox_by_deployment ON inbox_rows (workspace_id, status, deployment_id, activity_at, conversation_id);
	CREATE INDEX inbox_by_assignee ON inbox_rows (workspace_id, status, assignee_id, activity_at, conversation_id)
	WHERE assignee_id IS NOT NULL;
	CREATE INDEX inbox_waiting ON inbox_rows (workspace_id, status, activity_at, conversation_id)
	WHERE waiting_since IS NOT NULL;
	CREATE INDEX inbox_rated_down ON inbox_rows (workspace_id, status, activity_at, conversation_id) WHERE rated_down = 1;
	CREATE INDEX inbox_unanswered ON inbox_rows (workspace_id, status, activity_at, conversation_id) WHERE unanswered = 1;

	CREATE TABLE inbox_reads (
		reader TEXT NOT NULL, conversation_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (reader, conversation_id)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX inbox_reads_by_conversation ON inbox_reads (conversation_id);
	CREATE TABLE inbox_readers (reader TEXT PRIMARY KEY, read_before INTEGER NOT NULL) STRICT, WITHOUT ROWID;

	-- Rows are in the order of time: searches give the newest messages first.
	CREATE TABLE searchable_messages (
		row INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, conversation_id TEXT NOT NULL
	) STRICT;
	CREATE VIRTUAL TABLE message_search USING fts5(
		place, text, content='', columnsize=0, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
	);
	INSERT INTO message_search (message_search, rank) VALUES ('secure-delete', 1);

	CREATE TRIGGER search_goes_with_its_message AFTER DELETE ON messages BEGIN
		INSERT INTO message_search (message_search, rowid, place, text)
		SELECT 'delete', row, ${placeOf('OLD')}, ${beginning('OLD')} FROM searchable_messages WHERE message_id = OLD.id;
		DELETE FROM searchable_messages WHERE message_id = OLD.id;
	END;
	CREATE TRIGGER inbox_goes_with_its_conversation AFTER DELETE ON conversations BEGIN
		DELETE FROM inbox_rows WHERE conversation_id = OLD.id;
		DELETE FROM inbox_reads WHERE conversation_id = OLD.id;
	END;
	CREATE TRIGGER inbox_goes_with_its_user AFTER DELETE ON users BEGIN
		DELETE FROM inbox_reads WHERE reader = OLD.id;
		DELETE FROM inbox_readers WHERE reader = OLD.id;
	END;
	`;

/** Messages are indexed again, with each character of scripts without spaces as a word. The projector does it after the start. */
export const SEARCH_BY_CHARACTER_SCHEMA = `
	DROP TRIGGER search_goes_with_its_message;
	INSERT INTO message_search (message_search) VALUES ('delete-all');
	DELETE FROM searchable_messages;
	UPDATE inbox_progress SET filled_conversation = '', filled_seq = 0;
	CREATE TRIGGER search_goes_with_its_message AFTER DELETE ON messages BEGIN
		INSERT INTO message_search (message_search, rowid, place, text)
		SELECT 'delete', row, ${placeOf('OLD')}, ${indexedText('OLD')} FROM searchable_messages WHERE message_id = OLD.id;
		DELETE FROM searchable_messages WHERE message_id = OLD.id;
	END;
	`;
