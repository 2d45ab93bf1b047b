import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Write } from '../../src/store/index.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';

/**
 * The SHA-256 of each step of the schema, in order. A new step needs a new line at the end. A line never changes:
 * existing databases went through the step as it was.
 */
const CHECKSUMS = [
	'a3842ee5903b8a9e88daf0fdb2c7344188bfcb3433d5432064c8550a4f5a6250',
	'cec03a42b8f32cad815ab84e3ac82b860a055d32450d356498f05b17672053bf',
	'f98f89d16b2c8d72524f3641fdfd43ee6e8382c10376f4bd716af36b50f625fb',
	'78d58fc5fe58e27d78cd880a5c71268114b8516ce61fcae681d63ab4e1a022e3',
	'9bb2aa1dafb173029e807f84dbb7779484f698c636aab4e6a9bd621187e32688',
	'73c725d13a2154b2ac9f40474528c199e972e26ff60cfca1644bd7397cbed8b7',
	'65fa723804f806bcb22bce4ab07d579e63328d417b6b262092cff0826f129170',
	'e0937a5a5f3f9cbd70d959123259d80b0101f4ce5da1f0e8d088698ef9a0c1db',
	'215ccfdc71f0c844fa9dfd5a8a61c3f7647bef938861229c4351be28b694cbab',
	'9eb827f0b0cb1acd63c8fc2dd7afba8b1a1688613bba52b3dfc177ffb418e075',
	'e51220b243f2f60cc1bbbd2f65095b4dbb66a34d11c869fa740d2906c7320af8',
	'21142eb98aaad4a1ac25c6358ab71cecc6e87c9c7028e49ca147d8b8d06395e9',
	'de74a89692416531ae0658b5addc2727b9ce5cc4ad96d748945731b7925576f7',
	'c05635591251bbd9cf914436703e6af971fc0133c724c119a0caed7372895788',
	'77712df39de8d9bc49bbfb3d6a89755774012a644433a7cfeb7ca255f908c7ca',
	'10c1f976b3ee7ed519698d23f1502c200619f0046961572a50b73c864f6ca7f1',
	'fd0db9f3495b0ec428828b1f3283055a703907630e6522fa6dc44bb643234b1c',
	'acade4a8b5a786e6e71d94151be1c32b2ce6a2b84b4dbdb9bffbc5e72efefbaf',
	'41f15710cf2a0f826a7dc548a87e9a3bbeb759a1f7025052d294d32c25cb2acd',
	'1ae952b311931264dac066043f403c5f3a0d065f14b5921d14a534745372407f',
	'df5abe3be5d0f6e914452c98011cfd0d4d0674931178194ac30d2c5a1f6ad78a',
	'8511c3ad6cd4fb8f4bc1a5df9b608fe8e56c547602f64b754ce8f97c280929f4',
	'95458c9a52de3221af6725edf67b6891153d09d181b40e3262ee35d59b52f749',
	'e3a9180fa0f0a794fc6b76a4225ebd10dc3e307c9cecb9b553faa87cfcbcea8b',
	'207cbcca4be4abafe639865f5d98b008f1097ff825d4c5ff6c4a17ccd1e02c5c',
	'076c904080f89d83ffe79af9984416411c0d17e9ee630e7f45d091539029327a',
	'75f45b1914cd38c4131aa0b854931538aa152090a859d30a2af35b8d90a34eee',
	'72fcaad9269f069f302c15112c46db9ef4b569d223283a32f890c6b3ea0a9372',
	'854b7d8980860a0fd1c362f3c14b7521cbc4b7e322131e9621a33c536728b049',
	'4aed7bb42ea36d78d2f814bdd98d0d4af047c127cf307c4167dfb38175b42c8f',
	'67a280c6d4eb08b4b067e1288c0ae01bb23deec2bbf1ae4d563df91938356c10',
	'2c4be3fbdba537a6c5d64da779403958b85a0328f29f7956a14e57d49a19a8ac',
	'69e1a04866d7e72e0bc2f1a1395d39af18779fc59bfca987278c79fb1e688138',
	'27cab3109e3aa9d114c7ed851117bbc7a42717c52c796143d95b65affd078296',
	'11641941220de4ad33e4026f4bcc581fb3fa81e34eaae327d0229dd6d580a3dc',
	'da0e2b78535177d9f6007c486b5851fc4657bb6d6c85d679cb7c084ffe5ab1ba',
];

test('no step of the schema has changed since it was written', () => {
	for (const [index, sql] of MIGRATIONS.entries()) {
		const checksum = createHash('sha256').update(sql).digest('hex');
		const known = CHECKSUMS[index];
		assert.ok(known, `Step ${index + 1} is new. Add its checksum at the end of CHECKSUMS: '${checksum}',`);
		const edited = `Step ${index + 1} was edited. Databases that went through it would lack the change: undo it, and add a step at the end of MIGRATIONS instead.`;
		assert.equal(checksum, known, edited);
	}
	assert.equal(CHECKSUMS.length, MIGRATIONS.length, 'A step was removed. Databases count the steps: bring it back.');
});

/** The steps before the one in which this was said first. */
const stepsBefore = (text: string) =>
	MIGRATIONS.slice(
		0,
		MIGRATIONS.findIndex((step) => step.includes(text)),
	);

/** Makes a data folder with a database that went through some steps. @param fill inserts its rows: SQL, or a function */
async function oldDatabase(
	t: TestContext,
	steps: readonly string[],
	fill: string | ((old: Database.Database) => void),
): Promise<string> {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-old-'));
	t.after(() => rm(dataDir, { recursive: true }));
	const old = new Database(databaseFile(dataDir));
	for (const step of steps) old.exec(step);
	old.pragma(`user_version = ${steps.length}`);
	if (typeof fill === 'string') old.exec(fill);
	else fill(old);
	old.close();
	return dataDir;
}

/** The steps that the first released database had. */
const FIRST_RELEASE = 2;

test('migrates a database of the first release with all its data', async (t) => {
	const dataDir = await oldDatabase(
		t,
		MIGRATIONS.slice(0, FIRST_RELEASE),
		`
		INSERT INTO workspaces VALUES ('ws_1', 4, 'Shop', 'free', NULL, 10, 20);
		INSERT INTO deployments VALUES ('dep_1', 2, 'ws_1', 'Web', 'asst_1', '["shop.example"]', '{}', '{}', '{}', 'active', 1, 2);
		INSERT INTO knowledge_bases VALUES ('kb_1', 3, 'ws_1', 'Manuals', NULL, '{}', NULL, 1, 0, 0, NULL, 1, 2);
		INSERT INTO knowledge_bases VALUES ('kb_2', 3, 'ws_1', 'Indexed', NULL, '{}', 'gen_1', 1, 0, 0, NULL, 1, 2);
		INSERT INTO generations VALUES ('gen_1', 'kb_2', NULL, 4);
		INSERT INTO documents (id, version, workspace_id, knowledge_base_id, title, source_type, status, attempts, chunk_count, created_at, updated_at)
			VALUES ('doc_1', 1, 'ws_1', 'kb_1', 'Manual', 'url', 'indexed', 0, 4, 1, 2);
		INSERT INTO messages VALUES ('msg_1', 1, 'ws_1', 'conv_1', 1, 'user', '{}', 'Hi', 'completed', NULL, '[]', '[]', NULL, NULL, 'up', 0, 1, 1);
		INSERT INTO conversations VALUES ('conv_1', 1, 'ws_1', 'dep_1', 'asst_1', 'api', 'active', NULL, '{}', NULL, NULL, 'model', 1, 1, 1, 1, NULL);
		INSERT INTO events (id, stream, type, data, created_at) VALUES
			('evt_1', 'ws_1', 'conversation.created', '{"id":"conv_1"}', 1),
			('evt_2', 'ws_1', 'message.created', '{"id":"msg_1","conversation_id":"conv_1"}', 1),
			('evt_3', 'ws_1', 'assistant.updated', '{"id":"asst_1"}', 1),
			('evt_4', 'conv_1', 'message.created', '{"message_id":"msg_1"}', 1);
	`,
	);

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const workspace = await store.get('workspaces', 'ws_1');
	assert.deepEqual([workspace?.plan, workspace?.version], ['free', 4]);
	assert.equal((await store.get('workspace_guards', 'ws_1'))?.version, 1, 'what counts within it can be guarded');
	const deployment = await store.get('deployments', 'dep_1');
	assert.deepEqual([deployment?.jwt, deployment?.time_zone], [null, 'UTC']);
	assert.equal((await store.get('knowledge_bases', 'kb_1'))?.rebuilding, null);
	assert.equal((await store.get('documents', 'doc_1'))?.source_id, null, 'documents of that time belong to no source');
	const embedders = ['kb_1', 'kb_2'].map(async (id) => (await store.get('knowledge_bases', id))?.embedder);
	assert.deepEqual(await Promise.all(embedders), [null, 'builtin'], 'what was indexed has the vectors of that time');
	assert.equal((await store.searchIndex.generation('gen_1'))?.embedder, 'builtin');
	const message = await store.get('messages', 'msg_1');
	assert.deepEqual([message?.feedback, message?.feedback_comment], ['up', null]);

	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_1' }] });
	const left = [...(await store.events.after('ws_1', 0, 10)), ...(await store.events.after('conv_1', 0, 10))];
	assert.deepEqual(
		left.map(({ id }) => id),
		['evt_3'],
		'events of that time are erased with their conversation too',
	);
});

test('a reindex that an upgrade interrupts keeps the gaps of documents', async (t) => {
	const error = '{"code":"unreadable_file","message":"Page 2 is missing."}';
	const dataDir = await oldDatabase(
		t,
		stepsBefore('missing_text'),
		`
		INSERT INTO documents (id, version, workspace_id, knowledge_base_id, title, source_type, status, error, attempts, chunk_count, created_at, updated_at) VALUES
			('doc_1', 3, 'ws_1', 'kb_1', 'Scan', 'file', 'indexed', '${error}', 0, 1, 1, 2),
			('doc_2', 3, 'ws_1', 'kb_1', 'Text', 'file', 'indexed', NULL, 0, 1, 1, 2);
		INSERT INTO generations (id, knowledge_base_id, embedder, chunk_count) VALUES ('gen_2', 'kb_1', 'builtin', 0);
		INSERT INTO indexed_documents (generation, document_id, title, built_from) VALUES ('gen_2', 'doc_1', 'Scan', 3), ('gen_2', 'doc_2', 'Text', 3);
	`,
	);

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const document_ids = ['doc_1', 'doc_2'];
	const describe: Write = { op: 'index.describe_documents', generation: 'gen_2', document_ids, indexed_at: 9 };
	assert.equal((await store.commit({ write: [describe] })).outcome, 'committed');
	const [scan, text] = [await store.get('documents', 'doc_1'), await store.get('documents', 'doc_2')];
	assert.deepEqual([scan?.error, text?.error], [JSON.parse(error), null]);
	assert.equal(text?.indexed_at, 9);
});

test('a secret that still signs at a migration signs for the rest of its day', async (t) => {
	const dataDir = await oldDatabase(
		t,
		stepsBefore('former_secrets'),
		`
		INSERT INTO webhooks VALUES ('hook_1', 2, 'ws_1', 'https://one.example', '["*"]', NULL, 'active', NULL, 'new', 'old', 99, 1, 2);
		INSERT INTO webhooks VALUES ('hook_2', 1, 'ws_1', 'https://two.example', '["*"]', NULL, 'active', NULL, 'only', NULL, NULL, 1, 2);
	`,
	);

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const secretsOf = async (id: string) => {
		const { secret, former_secrets } = (await store.get('webhooks', id)) ?? assert.fail(id);
		return { secret, former_secrets };
	};
	assert.deepEqual(await secretsOf('hook_1'), { secret: 'new', former_secrets: [{ secret: 'old', until: 99 }] });
	assert.deepEqual(await secretsOf('hook_2'), { secret: 'only', former_secrets: [] });
});

test('a document indexed with no chunks gets the error no_text, and its knowledge base counts it', async (t) => {
	const dataDir = await oldDatabase(
		t,
		stepsBefore("'no_text'"),
		`
		INSERT INTO knowledge_bases (id, version, workspace_id, name, search_settings, documents_total, documents_pending, documents_failed, created_at, updated_at)
			VALUES ('kb_1', 3, 'ws_1', 'Manuals', '{}', 3, 0, 1, 1, 2), ('kb_2', 3, 'ws_1', 'Whole', '{}', 1, 0, 0, 1, 2);
		INSERT INTO documents (id, version, workspace_id, knowledge_base_id, title, source_type, status, error, attempts, chunk_count, created_at, updated_at)
			VALUES ('doc_scan', 2, 'ws_1', 'kb_1', 'Scan', 'file', 'indexed', NULL, 0, 0, 1, 2),
			('doc_text', 2, 'ws_1', 'kb_1', 'Text', 'file', 'indexed', NULL, 0, 4, 1, 2),
			('doc_bad', 2, 'ws_1', 'kb_1', 'Bad', 'file', 'error', '{"code":"unreadable_file","message":"Bad."}', 0, 0, 1, 2),
			('doc_whole', 2, 'ws_1', 'kb_2', 'Whole', 'file', 'indexed', NULL, 0, 1, 1, 2);
	`,
	);

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const documents = ['doc_scan', 'doc_text', 'doc_bad', 'doc_whole'].map(async (id) => {
		const document = await store.get('documents', id);
		return [document?.status, document?.error?.code, document?.version];
	});
	assert.deepEqual(await Promise.all(documents), [
		['error', 'no_text', 3],
		['indexed', undefined, 2],
		['error', 'unreadable_file', 2],
		['indexed', undefined, 2],
	]);
	const bases = ['kb_1', 'kb_2'].map(async (id) => {
		const base = await store.get('knowledge_bases', id);
		return [base?.documents_failed, base?.version];
	});
	assert.deepEqual(await Promise.all(bases), [
		[2, 4],
		[0, 3],
	]);
});

test('a knowledge base of an earlier version gets the time of its training, and whether another one is due', async (t) => {
	const trainedAt = Date.UTC(2100, 2, 9, 12, 5, 32, 345);
	const basis = newId('basis', trainedAt);
	const dataDir = await oldDatabase(t, stepsBefore('trained_at INTEGER'), (old) => {
		const insertBase = old.prepare(
			`INSERT INTO knowledge_bases (id, version, workspace_id, name, search_settings, generation, documents_total, documents_pending, documents_failed, created_at, updated_at)
			 VALUES (?, 1, 'ws_1', 'Manuals', '{}', ?, 1, 0, 0, 1, 2)`,
		);
		const insertGeneration = old.prepare(
			'INSERT INTO generations (id, knowledge_base_id, embedder, basis, chunk_count) VALUES (?, ?, ?, ?, 1)',
		);
		for (const [name, embedder] of [
			['trained', 'builtin'],
			['due', 'builtin'],
			['provider', 'openai/small'],
		] as const) {
			insertBase.run(`kb_${name}`, `gen_${name}`);
			insertGeneration.run(`gen_${name}`, `kb_${name}`, embedder, basis);
		}
		insertBase.run('kb_empty', null);
		old.exec(`INSERT INTO jobs VALUES ('job_1', 'train', 'kb_due', 'kb_due', 0, 0, 0, 0)`);
	});

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const facts = ['kb_trained', 'kb_due', 'kb_provider', 'kb_empty'].map(async (id) => {
		const { trained_at, training_asked_at } = (await store.get('knowledge_bases', id)) ?? assert.fail(id);
		return [trained_at, training_asked_at];
	});
	assert.deepEqual(await Promise.all(facts), [
		[trainedAt, null],
		[trainedAt, 2],
		[null, null],
		[null, null],
	]);
});

test('stored responses from before the pending field are kept, and the pending ones among them say where the reply is', async (t) => {
	const expiresAt = Date.now() + 3_600_000;
	const ids = { conversation_id: 'conv_1', question_id: 'msg_1', reply_id: 'msg_2' };
	const forHuman = { conversation_id: 'conv_2', question_id: 'msg_3', reply_id: null };
	const dataDir = await oldDatabase(t, stepsBefore('pending TEXT'), (old) => {
		const insert = old.prepare(
			'INSERT INTO idempotency (scope, key, body_hash, status, body, subject, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
		);
		insert.run('ws_1', 'message', 'hash 1', 102, JSON.stringify(ids), 'conv_1', expiresAt);
		insert.run('ws_1', 'message for a human', 'hash 2', 102, JSON.stringify(forHuman), 'conv_2', expiresAt);
		insert.run('ws_1', 'created', 'hash 3', 201, '{"id":"asst_1"}', null, expiresAt);
		insert.run('ws_1', 'secret', 'hash 4', 201, 'v1.sealed', null, expiresAt);
		insert.run('ws_1', 'expired', 'hash 5', 404, '{}', null, 1);
	});

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const stored = (key: string, includeExpired = false) =>
		store.idempotency.storedResponse({ scope: 'ws_1', key, body_hash: '' }, { includeExpired });
	assert.deepEqual(await stored('message'), { body_hash: 'hash 1', pending: ids });
	assert.deepEqual(await stored('message for a human'), {
		body_hash: 'hash 2',
		pending: forHuman,
	});
	assert.deepEqual(await stored('created'), {
		body_hash: 'hash 3',
		status: 201,
		body: '{"id":"asst_1"}',
	});
	assert.equal(await stored('expired'), undefined);
	assert.equal((await stored('expired', true))?.status, 404);
	assert.equal(await store.idempotency.hasSealedResponses(), true);

	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_1' }, { op: 'erase_sealed_responses' }] });
	await store.commit({ write: [{ op: 'erase_expired', before: 2, limit: 10 }] });
	const left = ['message', 'message for a human', 'created', 'secret', 'expired'].map(
		async (key) => (await stored(key, true))?.body_hash,
	);
	assert.deepEqual(await Promise.all(left), [undefined, 'hash 2', 'hash 3', undefined, undefined]);
});

test('the semantic weight .5 of an earlier version becomes automatic, any other stays set', async (t) => {
	const dataDir = await oldDatabase(t, stepsBefore('tuned_weight'), (old) => {
		const insert = old.prepare(
			`INSERT INTO knowledge_bases (id, version, workspace_id, name, search_settings, documents_total, documents_pending, documents_failed, created_at, updated_at)
			 VALUES (?, 3, 'ws_1', 'Manuals', ?, 1, 0, 0, 1, 2)`,
		);
		insert.run('kb_default', '{"hybrid":false,"semantic_weight":0.5}');
		insert.run('kb_set', '{"hybrid":true,"semantic_weight":0.35}');
		insert.run('kb_zero', '{"hybrid":true,"semantic_weight":0}');
	});

	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const settings = ['kb_default', 'kb_set', 'kb_zero'].map(async (id) => {
		const record = (await store.get('knowledge_bases', id)) ?? assert.fail(id);
		return [record.search_settings, record.tuned_on, record.changed_chunks, record.tuned_weight, record.version];
	});
	assert.deepEqual(await Promise.all(settings), [
		[{ hybrid: false, semantic_weight: null }, 0, 0, null, 3],
		[{ hybrid: true, semantic_weight: 0.35 }, 0, 0, null, 3],
		[{ hybrid: true, semantic_weight: 0 }, 0, 0, null, 3],
	]);
});
