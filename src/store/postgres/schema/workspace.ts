/** The records of a workspace, its people and what it has set up. */
export const WORKSPACE_TABLES = `
	CREATE TABLE server_facts (
		id string PRIMARY KEY, version bigint NOT NULL, value string NOT NULL, created_at bigint NOT NULL
	);

	CREATE TABLE workspaces (
		id string PRIMARY KEY, version bigint NOT NULL, name string NOT NULL, plan string NOT NULL, retention_days bigint,
		created_at bigint NOT NULL, updated_at bigint NOT NULL, budget string, require_totp string NOT NULL DEFAULT 'false'
	);

	CREATE TABLE workspace_guards (
		id string PRIMARY KEY, version bigint NOT NULL, created_at bigint NOT NULL
	);

	CREATE TABLE api_keys (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, name string NOT NULL,
		hash string NOT NULL UNIQUE, prefix string NOT NULL, scopes string NOT NULL, last_used_at bigint, expires_at bigint,
		created_at bigint NOT NULL
	);
	CREATE INDEX api_keys_by_creation ON api_keys (workspace_id, created_at, id);

	CREATE TABLE users (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, email string NOT NULL,
		name string NOT NULL, role string NOT NULL, password_hash string, password_link_hash string,
		password_link_expires_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL, totp string,
		oidc_issuer string, oidc_subject string, deactivated_at bigint
	);
	CREATE INDEX users_by_creation ON users (workspace_id, created_at, id);
	CREATE UNIQUE INDEX users_by_email ON users (email, workspace_id);
	CREATE UNIQUE INDEX users_by_oidc_subject ON users (workspace_id, oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;
	CREATE UNIQUE INDEX users_by_password_link ON users (password_link_hash) WHERE password_link_hash IS NOT NULL;

	CREATE TABLE sessions (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, user_id string NOT NULL,
		hash string NOT NULL UNIQUE, expires_at bigint NOT NULL, created_at bigint NOT NULL, user_agent string,
		signed_in_by string NOT NULL DEFAULT 'password'
	);
	CREATE INDEX sessions_by_expiry ON sessions (expires_at);
	CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);

	CREATE TABLE audit_log (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, actor_type string NOT NULL,
		actor_id string NOT NULL, actor_name string NOT NULL, action string NOT NULL, resource_type string,
		resource_id string NOT NULL, resource_name string, fields string NOT NULL, path string NOT NULL,
		request_id string NOT NULL, address string NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL,
		details string
	);
	CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, created_at, id);
	CREATE INDEX audit_log_by_actor ON audit_log (workspace_id, actor_id, created_at, id);
	CREATE INDEX audit_log_by_creation ON audit_log (workspace_id, created_at, id);
	CREATE INDEX audit_log_by_expiry ON audit_log (expires_at);
	CREATE INDEX audit_log_by_resource ON audit_log (workspace_id, resource_id, created_at, id);

	CREATE TABLE tools (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, name string NOT NULL,
		description string, type string NOT NULL, config string NOT NULL, status string NOT NULL, created_at bigint NOT NULL,
		updated_at bigint NOT NULL
	);
	CREATE INDEX tools_by_creation ON tools (workspace_id, created_at, id);

	CREATE TABLE webhooks (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, url string NOT NULL,
		events string NOT NULL, description string, status string NOT NULL, disabled_reason string, secret string NOT NULL,
		created_at bigint NOT NULL, updated_at bigint NOT NULL, former_secrets string NOT NULL DEFAULT '[]'
	);
	CREATE INDEX webhooks_by_creation ON webhooks (workspace_id, created_at, id);

	CREATE TABLE assistants (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, name string NOT NULL,
		description string, master_prompt string NOT NULL, model string NOT NULL, rag_settings string NOT NULL,
		status string NOT NULL, knowledge_base_ids string NOT NULL, tool_ids string NOT NULL, created_at bigint NOT NULL,
		updated_at bigint NOT NULL, archived_at bigint, redaction string NOT NULL DEFAULT '[]'
	);
	CREATE INDEX assistants_by_creation ON assistants (workspace_id, created_at, id);

	CREATE TABLE deployments (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, name string NOT NULL,
		assistant_id string NOT NULL, allowed_domains string NOT NULL, appearance string NOT NULL, features string NOT NULL,
		rate_limit string NOT NULL, status string NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL,
		jwt string, time_zone string NOT NULL DEFAULT 'UTC', budget string, visitor_budget string, retention_days bigint
	);
	CREATE INDEX deployments_by_creation ON deployments (workspace_id, created_at, id);
	CREATE INDEX deployments_by_retention ON deployments (workspace_id) WHERE retention_days IS NOT NULL;

	CREATE TABLE canned_replies (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, shortcut string NOT NULL,
		content string NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL
	);
	CREATE INDEX canned_replies_by_creation ON canned_replies (workspace_id, created_at, id);
`;
