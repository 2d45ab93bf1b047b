/** The log of events with their deliveries, jobs, and stored responses. */
export const LOG_TABLES = `
	CREATE TABLE events (
		seq bigint PRIMARY KEY, id string NOT NULL, stream string NOT NULL, type string NOT NULL, data string NOT NULL,
		created_at bigint NOT NULL, subject string
	);
	CREATE INDEX events_by_creation ON events (created_at, seq);
	CREATE INDEX events_by_stream ON events (stream, seq);
	CREATE INDEX events_of_workspaces ON events (seq) WHERE stream LIKE 'ws\\_%';
	CREATE INDEX events_by_subject ON events (subject, seq) WHERE subject IS NOT NULL;
	CREATE INDEX events_by_type ON events (stream, type, seq) WHERE stream LIKE 'ws\\_%';

	CREATE TABLE expiry_progress (
		id bigint PRIMARY KEY CHECK (id = 1), at bigint NOT NULL, seq bigint NOT NULL
	);
	INSERT INTO expiry_progress VALUES (1, ${Number.MIN_SAFE_INTEGER}, 0);

	CREATE TABLE deliveries (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, webhook_id string NOT NULL,
		event_seq bigint NOT NULL, event_id string NOT NULL, event_type string NOT NULL, subject string,
		status string NOT NULL, attempts bigint NOT NULL, failures bigint NOT NULL, first_attempt_at bigint, due_at bigint,
		status_code bigint, error string, created_at bigint NOT NULL, updated_at bigint NOT NULL, completed_at bigint
	);
	CREATE INDEX deliveries_by_creation ON deliveries (webhook_id, created_at, id);
	CREATE UNIQUE INDEX deliveries_by_event ON deliveries (event_seq, webhook_id);
	CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status, event_type, created_at, id);
	CREATE INDEX deliveries_by_type ON deliveries (webhook_id, event_type, created_at, id);
	CREATE INDEX deliveries_pending ON deliveries (webhook_id, due_at, event_seq, subject, event_type) WHERE status = 'pending';

	CREATE TABLE delivery_attempts (
		id string PRIMARY KEY, version bigint NOT NULL, delivery_id string NOT NULL, number bigint NOT NULL,
		status_code bigint, duration_ms bigint NOT NULL, error string, answer string, created_at bigint NOT NULL
	);
	CREATE INDEX delivery_attempts_in_order ON delivery_attempts (delivery_id, created_at, id);

	CREATE TABLE webhook_failures (
		webhook_id string PRIMARY KEY, since bigint NOT NULL
	);

	CREATE TABLE jobs (
		id string PRIMARY KEY, kind string NOT NULL, ref string NOT NULL, fair_group string NOT NULL, due_at bigint NOT NULL,
		attempts bigint NOT NULL, lease_epoch bigint NOT NULL, lease_until bigint NOT NULL
	);
	CREATE INDEX jobs_by_due ON jobs (kind, due_at);
	CREATE INDEX jobs_by_ref ON jobs (ref);
	CREATE INDEX jobs_claimed ON jobs (lease_until, lease_epoch, fair_group) WHERE lease_until > 0;

	CREATE TABLE idempotency (
		scope string NOT NULL, key string NOT NULL, body_hash string NOT NULL, status bigint, body string, pending string,
		subject string, expires_at bigint NOT NULL, PRIMARY KEY (scope, key),
		CHECK ((status IS NULL) = (body IS NULL) AND (status IS NULL) <> (pending IS NULL))
	);
	CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
	CREATE INDEX idempotency_by_subject ON idempotency (subject) WHERE subject IS NOT NULL;
`;
