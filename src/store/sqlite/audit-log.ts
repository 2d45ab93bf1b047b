/** The audit log. Each filter of its list has an index in the order of the list. */
export const AUDIT_LOG_SCHEMA = `
	CREATE TABLE audit_log (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, actor_type TEXT NOT NULL,
		actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, action TEXT NOT NULL, resource_type TEXT, resource_id TEXT NOT NULL,
		resource_name TEXT, fields TEXT NOT NULL, path TEXT NOT NULL, request_id TEXT NOT NULL, address TEXT NOT NULL,
		created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX audit_log_by_creation ON audit_log (workspace_id, created_at, id);
	CREATE INDEX audit_log_by_actor ON audit_log (workspace_id, actor_id, created_at, id);
	CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, created_at, id);
	CREATE INDEX audit_log_by_resource ON audit_log (workspace_id, resource_id, created_at, id);
	CREATE INDEX audit_log_by_expiry ON audit_log (expires_at);
	`;
