import assert from 'node:assert/strict';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';

const MESSAGES = '/api/v1/messages';

/** Copies the data folder of a running server, as a crash would leave it, with the schema from before the pending field. */
async function copyWithOldSchema({ dataDir }: TestApp): Promise<string> {
	const copy = await mkdtemp(join(tmpdir(), 'parley-old-'));
	const isDatabase = (path: string) => path.startsWith(databaseFile(dataDir));
	await cp(dataDir, copy, { recursive: true, filter: (path) => !isDatabase(path) });
	const source = new Database(databaseFile(dataDir), { readonly: true });
	await source.backup(join(copy, basename(databaseFile(dataDir))));
	source.close();

	const db = new Database(databaseFile(copy));
	db.exec(`
		DROP TRIGGER search_goes_with_its_message;
		CREATE TABLE old_idempotency (
			scope TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
			subject TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (scope, key)
		) STRICT, WITHOUT ROWID;
		INSERT INTO old_idempotency
			SELECT scope, key, body_hash, coalesce(status, 102), coalesce(body, pending), subject, expires_at FROM idempotency;
		DROP TABLE idempotency;
		ALTER TABLE old_idempotency RENAME TO idempotency;
		CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
		CREATE INDEX idempotency_by_subject ON idempotency (subject) WHERE subject IS NOT NULL;
		ALTER TABLE knowledge_bases DROP COLUMN tuned_on;
		ALTER TABLE knowledge_bases DROP COLUMN changed_chunks;
		ALTER TABLE knowledge_bases DROP COLUMN tuned_weight;
		ALTER TABLE knowledge_bases DROP COLUMN training_failures;
		DROP TABLE source_pages;
		DROP TABLE sources;
		DROP INDEX documents_by_source;
		ALTER TABLE documents DROP COLUMN source_id;
		ALTER TABLE deployments DROP COLUMN time_zone;
		ALTER TABLE indexed_documents DROP COLUMN missing_text;
		ALTER TABLE messages DROP COLUMN answered_by;
		ALTER TABLE messages DROP COLUMN first_token_ms;
		ALTER TABLE messages DROP COLUMN duration_ms;
		DROP INDEX documents_by_status;
		DROP TRIGGER inbox_goes_with_its_conversation;
		DROP TRIGGER inbox_goes_with_its_user;
		DROP TABLE message_search;
		DROP TABLE searchable_messages;
		DROP TABLE inbox_progress;
		DROP TABLE inbox_rows;
		DROP TABLE inbox_reads;
		DROP TABLE inbox_readers;
		DROP INDEX messages_rated_down;
		ALTER TABLE conversations DROP COLUMN assignee_id;
		DROP TRIGGER citations_go_with_their_document;
		DROP TABLE statistics_state;
		DROP TABLE figures;
		DROP TABLE cited_documents;
		DROP TABLE question_groups;
		DROP TABLE unanswered_questions;
		DROP TABLE audit_log;
		ALTER TABLE sessions DROP COLUMN user_agent;
		DROP TABLE notes;
		DROP TABLE canned_replies;
		DROP INDEX conversations_by_request;
		ALTER TABLE conversations DROP COLUMN taken_over_by;
		ALTER TABLE conversations DROP COLUMN requested_person_at;
		ALTER TABLE conversations DROP COLUMN contact_email;
		DROP TABLE erasures;
		DROP TABLE spending;
		DROP TABLE spending_reservations;
		DROP TABLE budget_notices;
		DROP INDEX conversations_by_spender;
		ALTER TABLE messages DROP COLUMN cost_micros;
		ALTER TABLE conversations DROP COLUMN cost_micros;
		ALTER TABLE conversations DROP COLUMN visitor_id;
		ALTER TABLE workspaces DROP COLUMN budget;
		ALTER TABLE deployments DROP COLUMN budget;
		ALTER TABLE deployments DROP COLUMN visitor_budget;
		ALTER TABLE users DROP COLUMN totp;
		DROP INDEX users_by_oidc_subject;
		ALTER TABLE users DROP COLUMN oidc_issuer;
		ALTER TABLE users DROP COLUMN oidc_subject;
		ALTER TABLE users DROP COLUMN deactivated_at;
		ALTER TABLE sessions DROP COLUMN signed_in_by;
		ALTER TABLE workspaces DROP COLUMN require_totp;
		DROP INDEX deployments_by_retention;
		ALTER TABLE deployments DROP COLUMN retention_days;
		ALTER TABLE assistants DROP COLUMN redaction;
	`);
	const step = MIGRATIONS.findIndex((sql) => sql.includes('pending TEXT'));
	db.pragma(`user_version = ${step}`);
	db.close();
	return copy;
}

test('answers repeats of messages from before the upgrade with their replies, and stores nothing', async () => {
	const model = new ManualModel();
	await using before = await startTestApp({ overrides: { providers: [model.provider] } });
	const { deployment } = await createApiFixture(before, { model: 'scripted/any' });
	const send = (app: TestApp, content: string, key: string, conversation_id?: string) =>
		app.call('POST', MESSAGES, { deployment_id: deployment, conversation_id, content }, { 'idempotency-key': key });

	const finished = send(before, 'Finished?', 'finished');
	const firstReply = await model.reply(0);
	firstReply.say('Yes.');
	firstReply.end();
	const { body: first } = await finished;
	const { body: other } = await send(before, 'Finished?', 'finished');
	assert.equal(other.id, first.id);
	const takeover = `/api/v1/conversations/${first.conversation_id}/takeover`;
	assert.equal((await before.call('POST', takeover)).status, 200);
	const { body: forHuman } = await send(before, 'Anyone?', 'for a human', first.conversation_id);
	const running = send(before, 'Running?', 'running').catch(() => null);
	(await model.reply(1)).say('It');
	// The model is asked while the commit of the question is still on its way to the disk.
	await until('the question is stored', async () => {
		const { body } = await before.call('GET', '/api/v1/conversations');
		return body.data.length === 2;
	});

	await using after = await startTestApp({
		dataDir: await copyWithOldSchema(before),
		key: before.key,
		overrides: { providers: [model.provider] },
	});
	const repeats = {
		finished: await send(after, 'Finished?', 'finished'),
		forHuman: await send(after, 'Anyone?', 'for a human', first.conversation_id),
	};
	// The old schema has no place for these.
	const lost = { answered_by: null, first_token_ms: null, duration_ms: null };
	const asRead = ({ user_message, ...message }: typeof first) => ({
		...{ ...message, ...lost },
		user_message: { ...user_message, ...lost },
	});
	assert.deepEqual(repeats.finished.body, asRead(first));
	assert.deepEqual(repeats.forHuman.body, asRead(forHuman));
	for (const { status, headers } of Object.values(repeats)) {
		assert.deepEqual([status, headers.get('idempotent-replayed')], [201, 'true']);
	}

	const repeat = send(after, 'Running?', 'running');
	const resumed = await model.reply(2);
	resumed.say('It is.');
	resumed.end();
	const { status, headers, body } = await repeat;
	assert.deepEqual([status, body.content, headers.get('idempotent-replayed')], [201, 'It is.', 'true']);
	const conversations = (await after.call('GET', '/api/v1/conversations')).body.data;
	assert.equal(conversations.length, 2, 'no repeat began a conversation');

	const reused = await send(after, 'Another?', 'finished');
	assert.deepEqual([reused.status, reused.body.error.code], [400, 'idempotency_key_reused']);
	await before[Symbol.asyncDispose]();
	await running;
});
