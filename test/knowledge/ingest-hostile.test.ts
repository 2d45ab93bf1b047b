import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { createLog } from '../../src/base/index.ts';
import { createWorkerPool, type WorkerPoolLimits } from '../../src/pool/index.ts';
import { createResource, untilProcessed, untilSettled, upload } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { PausablePool } from './pausable-pool.ts';

const BASES = '/api/v1/knowledge-bases';

/** A server whose parser executes the text of a document as a command. */
function startHostile(limits: Partial<WorkerPoolLimits> = {}) {
	const parseWorker = { file: new URL('../pool/hostile-worker.mjs', import.meta.url), execArgv: [] };
	const pool = createWorkerPool({ threads: 2, log: createLog('silent'), limits, parseWorker });
	return startTestApp({ overrides: { pool } });
}

test('documents that end the parsing process end in error, the server keeps answering, and harmless documents are indexed', async () => {
	await using app = await startHostile({ heapMb: 64, parseRssMb: 200 });
	const base = await createResource(app, BASES, { name: 'Shop' });
	const ids = new Map<string, string>();
	const add = async (name: string, bytes: string) => {
		const { status, body } = await upload(app, base, name, { bytes });
		assert.equal(status, 201);
		ids.set(name, body.id);
	};
	await add('first.txt', 'Green kettles hold two litres.');
	await add('abort.txt', 'ABORT at once.');
	await add('second.txt', 'Red kettles hold three litres.');
	await add('buffers.txt', 'BUFFERS without end.');
	await add('heap.txt', 'HEAP without end.');
	await add('third.txt', 'Blue kettles hold four litres.');
	let answers = 0;
	const status = await until('nothing is being indexed any more', async () => {
		const { status: code, body } = await app.call('GET', `${BASES}/${base}/status`);
		assert.equal(code, 200);
		answers++;
		return body.status !== 'indexing' && body;
	});
	assert.ok(answers > 1);
	assert.deepEqual([status.status, status.documents_indexed], ['error', 3]);
	for (const [name, id] of ids) {
		const document = await untilProcessed(app, base, id);
		const isBomb = /abort|buffers|heap/.test(name);
		assert.deepEqual(
			[document.status, document.error?.code ?? null],
			isBomb ? ['error', 'resource_limit'] : ['indexed', null],
		);
		if (isBomb) assert.equal(document.error.message, 'Reading the file takes more memory than this server allows.');
	}
});

test('two documents whose parsing process is killed during both are still indexed', async (t) => {
	await using app = await startHostile();
	const folder = await temporaryFolder(t);
	const base = await createResource(app, BASES, { name: 'Shop' });
	const files = ['a', 'b'].map((name) => join(folder, name));
	const ids = await Promise.all(
		files.map(async (file) => (await upload(app, base, 'a.txt', { bytes: `WAIT ${file}` })).body.id),
	);
	const parserOf = (file: string, former?: number) =>
		until('the document is being parsed', async () => {
			const pid = Number(await readFile(file, 'utf8').catch(() => ''));
			return pid > 0 && pid !== former && pid;
		});
	const [first, second] = await Promise.all(files.map((file) => parserOf(file)));
	assert.equal(first, second);
	process.kill(first as number, 'SIGKILL');
	for (const id of ids)
		assert.equal((await app.call('GET', `${BASES}/${base}/documents/${id}`)).body.status, 'processing');
	await Promise.all(
		files.map(async (file) => {
			await parserOf(file, first);
			await rm(file);
		}),
	);
	assert.deepEqual([(await untilSettled(app, base)).documents_indexed, ids.length], [2, 2]);
});

test('a document that crashes interrupt is parsed alone from the third claim on and never fails', async () => {
	const pool = new PausablePool();
	pool.pause();
	let app = await startTestApp({ overrides: { pool } });
	try {
		// A process that crashes gives no claim back: its attempts stay.
		const database = new Database(join(app.dataDir, 'parley.db'));
		database.exec(
			"CREATE TRIGGER crash BEFORE UPDATE ON jobs WHEN NEW.attempts < OLD.attempts BEGIN SELECT RAISE(ABORT, 'crash'); END",
		);
		database.close();
		const base = await createResource(app, BASES, { name: 'Shop' });
		const { body } = await upload(app, base, 'a.txt', { bytes: 'Kettles hold two litres.' });
		for (let start = 1; start < 4; start++) {
			await until('it is being parsed', () => pool.isolated.length === start && pool.waiting === 1);
			app = await app.restart();
		}
		await until('it is being parsed', () => pool.isolated.length === 4 && pool.waiting === 1);
		assert.deepEqual(pool.isolated, [false, false, true, true]);
		const later = new Database(join(app.dataDir, 'parley.db'));
		later.exec('UPDATE jobs SET attempts = 1000');
		later.close();
		app = await app.restart();
		pool.resume();
		assert.equal((await untilProcessed(app, base, body.id)).status, 'indexed');
	} finally {
		await app[Symbol.asyncDispose]();
	}
});

async function temporaryFolder(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-hostile-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}
