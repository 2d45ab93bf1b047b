/**
 * Tables of costs. Part of a released migration step. `spending` has sums by day (ms since the epoch, UTC) for each account: the
 * workspace, a deployment, a visitor of a deployment, a model. A reservation is a part of `reserved` of its accounts until its reply ends.
 */
export const SPENDING_SCHEMA = `
	CREATE TABLE spending (
		workspace_id TEXT NOT NULL, dimension TEXT NOT NULL, account TEXT NOT NULL, day INTEGER NOT NULL,
		spent INTEGER NOT NULL, reserved INTEGER NOT NULL,
		PRIMARY KEY (workspace_id, dimension, account, day)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX spending_by_day ON spending (dimension, day);

	CREATE TABLE spending_reservations (
		message_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, workspace_id TEXT NOT NULL, deployment_id TEXT NOT NULL,
		visitor_id TEXT, model TEXT NOT NULL, day INTEGER NOT NULL, amount INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX spending_reservations_by_conversation ON spending_reservations (conversation_id);

	CREATE TABLE budget_notices (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, account TEXT NOT NULL,
		created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX budget_notices_by_account ON budget_notices (account);
	CREATE INDEX budget_notices_by_expiry ON budget_notices (expires_at);

	ALTER TABLE messages ADD COLUMN cost_micros INTEGER;
	ALTER TABLE conversations ADD COLUMN cost_micros INTEGER;
	ALTER TABLE conversations ADD COLUMN visitor_id TEXT;
	CREATE INDEX conversations_by_spender ON conversations (visitor_id) WHERE visitor_id IS NOT NULL;
	ALTER TABLE workspaces ADD COLUMN budget TEXT;
	ALTER TABLE deployments ADD COLUMN budget TEXT;
	ALTER TABLE deployments ADD COLUMN visitor_budget TEXT;
`;
