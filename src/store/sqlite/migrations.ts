import type { Database } from 'better-sqlite3';
import { AUDIT_LOG_SCHEMA } from './audit-log.ts';
import { DELIVERIES_SCHEMA } from './deliveries.ts';
import { ERASURES_SCHEMA } from './erasures.ts';
import { INBOX_SCHEMA, SEARCH_BY_CHARACTER_SCHEMA } from './inbox/index.ts';
import {
	repairLanguages,
	SEARCH_INDEX_CHANGES,
	SEARCH_INDEX_EMBEDDERS,
	SEARCH_INDEX_REBUILD,
	SEARCH_INDEX_SAMPLES,
	SEARCH_INDEX_SCHEMA,
} from './search-index.ts';
import { SOURCES_SCHEMA } from './source-pages.ts';
import { SPENDING_SCHEMA } from './spending/schema.ts';
import { STATISTICS_SCHEMA } from './statistics/schema.ts';

/** The steps from an empty database to the current schema, in order. A released step is never edited. */
export const MIGRATIONS: readonly string[] = [
	`
	CREATE TABLE fences (shard TEXT PRIMARY KEY, owner TEXT NOT NULL, epoch INTEGER NOT NULL) STRICT;

	CREATE TABLE workspaces (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL, plan TEXT NOT NULL, retention_days INTEGER,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;

	CREATE TABLE api_keys (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
		prefix TEXT NOT NULL, scopes TEXT NOT NULL, last_used_at INTEGER, expires_at INTEGER, created_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX api_keys_by_creation ON api_keys (workspace_id, created_at, id);

	CREATE TABLE assistants (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
		master_prompt TEXT NOT NULL, model TEXT NOT NULL, rag_settings TEXT NOT NULL, status TEXT NOT NULL,
		knowledge_base_ids TEXT NOT NULL, tool_ids TEXT NOT NULL,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER
	) STRICT;
	CREATE INDEX assistants_by_creation ON assistants (workspace_id, created_at, id);

	CREATE TABLE knowledge_bases (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
		search_settings TEXT NOT NULL, generation TEXT, documents_total INTEGER NOT NULL, documents_pending INTEGER NOT NULL,
		documents_failed INTEGER NOT NULL, last_indexed_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX knowledge_bases_by_creation ON knowledge_bases (workspace_id, created_at, id);

	CREATE TABLE documents (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, knowledge_base_id TEXT NOT NULL,
		title TEXT NOT NULL, source_type TEXT NOT NULL, url TEXT, file_name TEXT, content_type TEXT, size_bytes INTEGER, blob TEXT,
		status TEXT NOT NULL, error TEXT, attempts INTEGER NOT NULL, chunk_count INTEGER NOT NULL, page_count INTEGER,
		language TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, indexed_at INTEGER
	) STRICT;
	CREATE INDEX documents_by_creation ON documents (knowledge_base_id, created_at, id);
	CREATE INDEX documents_by_blob ON documents (blob) WHERE blob IS NOT NULL;

	CREATE TABLE deployments (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, name TEXT NOT NULL,
		assistant_id TEXT NOT NULL, allowed_domains TEXT NOT NULL, appearance TEXT NOT NULL, features TEXT NOT NULL,
		rate_limit TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX deployments_by_creation ON deployments (workspace_id, created_at, id);

	CREATE TABLE conversations (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, deployment_id TEXT NOT NULL,
		assistant_id TEXT NOT NULL, channel TEXT NOT NULL, status TEXT NOT NULL, title TEXT, metadata TEXT NOT NULL,
		end_user_id TEXT, end_user TEXT, handled_by TEXT NOT NULL, message_count INTEGER NOT NULL, last_message_at INTEGER,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER
	) STRICT;
	CREATE INDEX conversations_by_creation ON conversations (workspace_id, created_at, id);
	CREATE INDEX conversations_by_deployment ON conversations (deployment_id, created_at, id);

	CREATE TABLE messages (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
		seq INTEGER NOT NULL, role TEXT NOT NULL, author TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL, model TEXT,
		citations TEXT NOT NULL, tool_calls TEXT NOT NULL, usage TEXT, error TEXT, feedback TEXT, attempts INTEGER NOT NULL,
		created_at INTEGER NOT NULL, completed_at INTEGER
	) STRICT;
	CREATE UNIQUE INDEX messages_in_order ON messages (conversation_id, seq);
	CREATE INDEX messages_unfinished ON messages (id) WHERE status = 'in_progress';

	CREATE TABLE events (
		seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, stream TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
		created_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX events_by_stream ON events (stream, seq);

	CREATE TABLE jobs (
		id TEXT PRIMARY KEY, kind TEXT NOT NULL, ref TEXT NOT NULL, fair_group TEXT NOT NULL, due_at INTEGER NOT NULL,
		attempts INTEGER NOT NULL, lease_epoch INTEGER NOT NULL, lease_until INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX jobs_by_due ON jobs (kind, due_at);
	CREATE INDEX jobs_by_ref ON jobs (ref);

	CREATE TABLE idempotency (
		scope TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
		expires_at INTEGER NOT NULL, PRIMARY KEY (scope, key)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
	`,
	SEARCH_INDEX_SCHEMA,
	`
	CREATE TABLE users (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, email TEXT NOT NULL, name TEXT NOT NULL,
		role TEXT NOT NULL, password_hash TEXT, password_link_hash TEXT, password_link_expires_at INTEGER,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX users_by_creation ON users (workspace_id, created_at, id);
	CREATE UNIQUE INDEX users_by_email ON users (email, workspace_id);
	CREATE UNIQUE INDEX users_by_password_link ON users (password_link_hash) WHERE password_link_hash IS NOT NULL;

	CREATE TABLE sessions (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, user_id TEXT NOT NULL,
		hash TEXT NOT NULL UNIQUE, expires_at INTEGER NOT NULL, created_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
	CREATE INDEX sessions_by_expiry ON sessions (expires_at);

	CREATE TABLE tools (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
		type TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX tools_by_creation ON tools (workspace_id, created_at, id);

	CREATE TABLE webhooks (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, url TEXT NOT NULL, events TEXT NOT NULL,
		description TEXT, status TEXT NOT NULL, disabled_reason TEXT, secret TEXT NOT NULL, former_secret TEXT,
		former_secret_until INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX webhooks_by_creation ON webhooks (workspace_id, created_at, id);

	CREATE TABLE workspace_guards (id TEXT PRIMARY KEY, version INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
	INSERT INTO workspace_guards (id, version, created_at) SELECT id, 1, created_at FROM workspaces;

	ALTER TABLE deployments ADD COLUMN jwt TEXT;
	ALTER TABLE knowledge_bases ADD COLUMN rebuilding TEXT;
	ALTER TABLE messages ADD COLUMN feedback_comment TEXT;

	ALTER TABLE events ADD COLUMN subject TEXT;
	UPDATE events SET subject = coalesce(data ->> 'conversation_id', data ->> 'id') WHERE type LIKE 'conversation.%' OR type LIKE 'message.%';
	CREATE INDEX events_by_subject ON events (subject) WHERE subject IS NOT NULL;
	CREATE INDEX events_by_type ON events (stream, type, seq);

	DROP TABLE idempotency;
	CREATE TABLE idempotency (
		scope TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
		subject TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (scope, key)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
	CREATE INDEX idempotency_by_subject ON idempotency (subject) WHERE subject IS NOT NULL;
	`,
	SEARCH_INDEX_REBUILD,
	`
	CREATE INDEX conversations_by_status ON conversations (workspace_id, status, created_at, id);
	CREATE INDEX conversations_by_assistant ON conversations (assistant_id, created_at, id);
	CREATE INDEX conversations_by_end_user ON conversations (workspace_id, end_user_id, created_at, id);
	CREATE INDEX conversations_by_visitor ON conversations (deployment_id, end_user_id, created_at, id);

	CREATE TABLE server_facts (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	`,
	`
	CREATE INDEX conversations_by_activity ON conversations (workspace_id, coalesce(last_message_at, created_at), id);

	DROP INDEX messages_unfinished;
	CREATE INDEX messages_unfinished ON messages (conversation_id, id) WHERE status = 'in_progress';
	`,
	DELIVERIES_SCHEMA,
	`${SEARCH_INDEX_EMBEDDERS}
	ALTER TABLE knowledge_bases ADD COLUMN embedder TEXT;
	ALTER TABLE knowledge_bases ADD COLUMN reindex_reason TEXT;
	UPDATE knowledge_bases SET embedder = 'builtin' WHERE generation IS NOT NULL;
	`,
	`
	CREATE TABLE reply_rounds (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, message_id TEXT NOT NULL, number INTEGER NOT NULL, model TEXT NOT NULL,
		text TEXT NOT NULL, usage TEXT, memory TEXT, grounding TEXT, created_at INTEGER NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX reply_rounds_in_order ON reply_rounds (message_id, number);

	CREATE TABLE reply_calls (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, message_id TEXT NOT NULL, round INTEGER NOT NULL,
		number INTEGER NOT NULL, call TEXT NOT NULL, created_at INTEGER NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX reply_calls_in_order ON reply_calls (message_id, number);

	CREATE TRIGGER rounds_go_with_their_message AFTER DELETE ON messages BEGIN
		DELETE FROM reply_rounds WHERE message_id = OLD.id;
		DELETE FROM reply_calls WHERE message_id = OLD.id;
	END;
	`,
	`${SEARCH_INDEX_SAMPLES}
	ALTER TABLE knowledge_bases ADD COLUMN problem TEXT;
	`,
	`
	ALTER TABLE webhooks ADD COLUMN former_secrets TEXT NOT NULL DEFAULT '[]';
	UPDATE webhooks SET former_secrets = json_array(json_object('secret', former_secret, 'until', former_secret_until))
	WHERE former_secret IS NOT NULL AND former_secret_until IS NOT NULL;
	ALTER TABLE webhooks DROP COLUMN former_secret;
	ALTER TABLE webhooks DROP COLUMN former_secret_until;

	DROP INDEX deliveries_by_status;
	CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status, event_type, created_at, id);
	`,
	SEARCH_INDEX_CHANGES,
	// A document without text was "indexed with 0 chunks".
	`
	UPDATE knowledge_bases SET version = version + 1, documents_failed = documents_failed + (
		SELECT count(*) FROM documents
		WHERE knowledge_base_id = knowledge_bases.id AND status = 'indexed' AND chunk_count = 0
	)
	WHERE id IN (SELECT knowledge_base_id FROM documents WHERE status = 'indexed' AND chunk_count = 0);
	UPDATE documents SET version = version + 1, status = 'error', error = json_object(
		'code', 'no_text',
		'message', 'The document has no text that can be searched. Upload one with text in it, or recognise the text of a scan (OCR) first.'
	)
	WHERE status = 'indexed' AND chunk_count = 0;
	`,
	// When the bases of earlier versions were trained is in their ids: 48 bits of milliseconds, five bits a character.
	`
	ALTER TABLE knowledge_bases ADD COLUMN trained_at INTEGER;
	ALTER TABLE knowledge_bases ADD COLUMN training_asked_at INTEGER;
	UPDATE knowledge_bases SET trained_at = (
		WITH RECURSIVE digits (position, value, basis) AS (
			SELECT 0, 0, basis FROM generations
			WHERE id = knowledge_bases.generation AND embedder = 'builtin' AND basis GLOB 'basis_*' AND length(basis) = 38
			UNION ALL
			SELECT position + 1, value * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(basis, position + 7, 1)) - 1, basis
			FROM digits WHERE position < 10
		)
		SELECT value >> 2 FROM digits WHERE position = 10
	);
	UPDATE knowledge_bases SET training_asked_at = updated_at
	WHERE id IN (SELECT ref FROM jobs WHERE kind = 'train');
	`,
	// A pending response was stored with status 102 and the ids of its messages as the body.
	`
	CREATE TABLE idempotency_records (
		scope TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER, body TEXT, pending TEXT,
		subject TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (scope, key),
		CHECK ((status IS NULL) = (body IS NULL) AND (status IS NULL) <> (pending IS NULL))
	) STRICT, WITHOUT ROWID;
	INSERT INTO idempotency_records (scope, key, body_hash, status, body, pending, subject, expires_at)
	SELECT scope, key, body_hash, nullif(status, 102), iif(status = 102, NULL, body), iif(status = 102, body, NULL),
		subject, expires_at
	FROM idempotency;
	DROP TABLE idempotency;
	ALTER TABLE idempotency_records RENAME TO idempotency;
	CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
	CREATE INDEX idempotency_by_subject ON idempotency (subject) WHERE subject IS NOT NULL;
	`,
	// The weight .5 was the default: it becomes automatic, which is null.
	`
	ALTER TABLE knowledge_bases ADD COLUMN tuned_on INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE knowledge_bases ADD COLUMN changed_chunks INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE knowledge_bases ADD COLUMN tuned_weight REAL;
	UPDATE knowledge_bases SET search_settings = json_set(search_settings, '$.semantic_weight', NULL)
	WHERE search_settings ->> 'semantic_weight' = 0.5;
	`,
	'ALTER TABLE knowledge_bases ADD COLUMN training_failures INTEGER NOT NULL DEFAULT 0;',
	SOURCES_SCHEMA,
	"ALTER TABLE deployments ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';",
	// A generation that is being built has the documents with the gaps that their records name.
	`
	ALTER TABLE indexed_documents ADD COLUMN missing_text TEXT;
	UPDATE indexed_documents SET missing_text =
		(SELECT error ->> '$.message' FROM documents WHERE id = document_id AND status = 'indexed')
	WHERE built_from IS NOT NULL;
	`,
	// Most rows are in none of these queries: conversations without a known user, and events of conversations.
	`
	DROP INDEX conversations_by_end_user;
	CREATE INDEX conversations_by_end_user ON conversations (workspace_id, end_user_id, created_at, id) WHERE end_user_id IS NOT NULL;
	DROP INDEX conversations_by_visitor;
	CREATE INDEX conversations_by_visitor ON conversations (deployment_id, end_user_id, created_at, id) WHERE end_user_id IS NOT NULL;
	DROP INDEX events_by_type;
	CREATE INDEX events_by_type ON events (stream, type, seq) WHERE stream GLOB 'ws_*';
	`,
	`
	ALTER TABLE messages ADD COLUMN answered_by TEXT;
	ALTER TABLE messages ADD COLUMN first_token_ms INTEGER;
	ALTER TABLE messages ADD COLUMN duration_ms INTEGER;
	`,
	// A message changes no row of the index: few visitors wait for a person.
	`
	ALTER TABLE conversations ADD COLUMN taken_over_by TEXT;
	ALTER TABLE conversations ADD COLUMN requested_person_at INTEGER;
	ALTER TABLE conversations ADD COLUMN contact_email TEXT;
	CREATE INDEX conversations_by_request ON conversations (workspace_id, created_at, id) WHERE requested_person_at IS NOT NULL;
	`,
	// The list of a knowledge base's failed documents reads no others.
	`
	CREATE INDEX documents_by_status ON documents (knowledge_base_id, status, created_at, id);
	`,
	INBOX_SCHEMA,
	AUDIT_LOG_SCHEMA,
	'ALTER TABLE sessions ADD COLUMN user_agent TEXT;',
	STATISTICS_SCHEMA,
	`
	CREATE TABLE notes (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
		author TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX notes_by_conversation ON notes (conversation_id, created_at, id);

	CREATE TABLE canned_replies (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, shortcut TEXT NOT NULL, content TEXT NOT NULL,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX canned_replies_by_creation ON canned_replies (workspace_id, created_at, id);
	`,
	SEARCH_BY_CHARACTER_SCHEMA,
	ERASURES_SCHEMA,
	SPENDING_SCHEMA,
	`
	ALTER TABLE users ADD COLUMN totp TEXT;
	ALTER TABLE workspaces ADD COLUMN require_totp TEXT NOT NULL DEFAULT 'false';
	`,
	`
	ALTER TABLE deployments ADD COLUMN retention_days INTEGER;
	CREATE INDEX deployments_by_retention ON deployments (workspace_id) WHERE retention_days IS NOT NULL;
	`,
	`
	ALTER TABLE users ADD COLUMN oidc_issuer TEXT;
	ALTER TABLE users ADD COLUMN oidc_subject TEXT;
	ALTER TABLE users ADD COLUMN deactivated_at INTEGER;
	CREATE UNIQUE INDEX users_by_oidc_subject ON users (workspace_id, oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL;
	ALTER TABLE sessions ADD COLUMN signed_in_by TEXT NOT NULL DEFAULT 'password';
	`,
	"ALTER TABLE assistants ADD COLUMN redaction TEXT NOT NULL DEFAULT '[]';",
];

/**
 * For tools beside a server, which must not change its schema.
 * @throws Error when the database has another schema version
 */
export function requireSchema(db: Database): void {
	const version = db.pragma('user_version', { simple: true }) as number;
	if (version === MIGRATIONS.length) return;
	throw new Error(
		`The database has schema version ${version}, this command knows ${MIGRATIONS.length}. Use the Parley that the server runs, or start the server of this one first.`,
	);
}

/**
 * Brings the database to the current schema, each step in its own transaction.
 * @throws when the database was written by a newer Parley
 */
export function migrate(db: Database): void {
	const version = db.pragma('user_version', { simple: true }) as number;
	if (version > MIGRATIONS.length) {
		throw new Error(
			`The database has schema version ${version}, this Parley knows ${MIGRATIONS.length}. Start the newer Parley that wrote it.`,
		);
	}
	for (const [index, sql] of MIGRATIONS.entries()) {
		if (index < version) continue;
		db.transaction(() => {
			db.exec(sql);
			db.pragma(`user_version = ${index + 1}`);
		}).immediate();
	}
	db.transaction(repairLanguages).immediate(db);
	// The file alone has the schema from now on, so that an empty one is known to be damaged.
	if (version < MIGRATIONS.length) db.pragma('wal_checkpoint(PASSIVE)');
}
