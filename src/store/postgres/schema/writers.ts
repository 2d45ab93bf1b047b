/**
 * The writers of the nodes, and where the log ends. Text compares by bytes, whatever the collation of the database, as in the embedded store.
 * `writers` has the last batch of each writer and its outcomes, so that a batch whose answer was lost can be looked up.
 */
export const WRITER_TABLES = `
	CREATE DOMAIN string AS text COLLATE "C";

	CREATE TABLE writers (
		id string PRIMARY KEY, session string NOT NULL, batch bigint NOT NULL, outcomes jsonb, updated_at timestamptz NOT NULL
	);
	CREATE INDEX writers_by_time ON writers (updated_at);

	CREATE TABLE log_end (id bigint PRIMARY KEY CHECK (id = 1), seq bigint NOT NULL) WITH (fillfactor = 10);
	INSERT INTO log_end VALUES (1, 0);
`;
