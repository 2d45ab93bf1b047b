import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';

/** The steps before the one in which this was said first. */
const stepsBefore = (text: string) =>
	MIGRATIONS.slice(
		0,
		MIGRATIONS.findIndex((step) => step.includes(text)),
	);

/** The steps that the first released database had. */
const FIRST_RELEASE = 2;

test('a database of the first release is brought up to date with all that it holds', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-old-'));
	t.after(() => rm(dataDir, { recursive: true }));
	const old = new Database(databaseFile(dataDir));
	for (const step of MIGRATIONS.slice(0, FIRST_RELEASE)) old.exec(step);
	old.pragma(`user_version = ${FIRST_RELEASE}`);
	old.exec(`
		INSERT INTO workspaces VALUES ('ws_1', 4, 'Shop', 'free', NULL, 10, 20);
		INSERT INTO deployments VALUES ('dep_1', 2, 'ws_1', 'Web', 'asst_1', '["shop.example"]', '{}', '{}', '{}', 'active', 1, 2);
		INSERT INTO knowledge_bases VALUES ('kb_1', 3, 'ws_1', 'Manuals', NULL, '{}', NULL, 1, 0, 0, NULL, 1, 2);
		INSERT INTO knowledge_bases VALUES ('kb_2', 3, 'ws_1', 'Indexed', NULL, '{}', 'gen_1', 1, 0, 0, NULL, 1, 2);
		INSERT INTO generations VALUES ('gen_1', 'kb_2', NULL, 4);
		INSERT INTO messages VALUES ('msg_1', 1, 'ws_1', 'conv_1', 1, 'user', '{}', 'Hi', 'completed', NULL, '[]', '[]', NULL, NULL, 'up', 0, 1, 1);
		INSERT INTO conversations VALUES ('conv_1', 1, 'ws_1', 'dep_1', 'asst_1', 'api', 'active', NULL, '{}', NULL, NULL, 'model', 1, 1, 1, 1, NULL);
		INSERT INTO events (id, stream, type, data, created_at) VALUES
			('evt_1', 'ws_1', 'conversation.created', '{"id":"conv_1"}', 1),
			('evt_2', 'ws_1', 'message.created', '{"id":"msg_1","conversation_id":"conv_1"}', 1),
			('evt_3', 'ws_1', 'assistant.updated', '{"id":"asst_1"}', 1),
			('evt_4', 'conv_1', 'message.created', '{"message_id":"msg_1"}', 1);
	`);
	old.close();

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const workspace = await store.get('workspaces', 'ws_1');
	assert.deepEqual([workspace?.plan, workspace?.version], ['free', 4]);
	assert.equal((await store.get('workspace_guards', 'ws_1'))?.version, 1, 'what counts within it can be guarded');
	assert.equal((await store.get('deployments', 'dep_1'))?.jwt, null);
	assert.equal((await store.get('knowledge_bases', 'kb_1'))?.rebuilding, null);
	const embedders = ['kb_1', 'kb_2'].map(async (id) => (await store.get('knowledge_bases', id))?.embedder);
	assert.deepEqual(await Promise.all(embedders), [null, 'builtin'], 'what was indexed has the vectors of that time');
	assert.equal((await store.generation('gen_1'))?.embedder, 'builtin');
	const message = await store.get('messages', 'msg_1');
	assert.deepEqual([message?.feedback, message?.feedback_comment], ['up', null]);

	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_1' }] });
	const left = [...(await store.events('ws_1', 0, 10)), ...(await store.events('conv_1', 0, 10))];
	assert.deepEqual(
		left.map(({ id }) => id),
		['evt_3'],
		'events of that time are erased with their conversation too',
	);
});

test('a secret that still signs when the server is brought up to date signs for the rest of its day', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-old-'));
	t.after(() => rm(dataDir, { recursive: true }));
	const old = new Database(databaseFile(dataDir));
	const steps = stepsBefore('former_secrets');
	for (const step of steps) old.exec(step);
	old.pragma(`user_version = ${steps.length}`);
	old.exec(`
		INSERT INTO webhooks VALUES ('hook_1', 2, 'ws_1', 'https://one.example', '["*"]', NULL, 'active', NULL, 'new', 'old', 99, 1, 2);
		INSERT INTO webhooks VALUES ('hook_2', 1, 'ws_1', 'https://two.example', '["*"]', NULL, 'active', NULL, 'only', NULL, NULL, 1, 2);
	`);
	old.close();

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const secretsOf = async (id: string) => {
		const { secret, former_secrets } = (await store.get('webhooks', id)) ?? assert.fail(id);
		return { secret, former_secrets };
	};
	assert.deepEqual(await secretsOf('hook_1'), { secret: 'new', former_secrets: [{ secret: 'old', until: 99 }] });
	assert.deepEqual(await secretsOf('hook_2'), { secret: 'only', former_secrets: [] });
});
