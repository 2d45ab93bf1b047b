/**
 * Limits that hold for all nodes together. `used_requests` has what nodes have published in the last seconds: after a crash of the
 * database it is empty, and only a burst is lost. `limited_attempts` must last: it limits guesses.
 */
export const LIMIT_TABLES = `
	CREATE UNLOGGED TABLE used_requests (
		node string NOT NULL, number bigint NOT NULL, used jsonb NOT NULL, published_at timestamptz NOT NULL,
		PRIMARY KEY (node, number)
	);

	CREATE TABLE limited_attempts (key string PRIMARY KEY, times bigint[] NOT NULL, expires_at bigint NOT NULL);
	CREATE INDEX limited_attempts_by_expiry ON limited_attempts (expires_at);
`;
