/**
 * The import of an embedded database. `imports` has one row from the first copied row on; servers do not start before it is completed.
 * `source`: what changes when a server uses the embedded database again. `position`: the key of the last row, as JSON.
 */
export const IMPORT_TABLES = `
	CREATE TABLE imports (
		id bigint PRIMARY KEY CHECK (id = 1), source string NOT NULL, started_at bigint NOT NULL, completed_at bigint
	);

	CREATE TABLE import_progress (
		part string PRIMARY KEY, position string NOT NULL, copied bigint NOT NULL, is_complete boolean NOT NULL
	);
`;
