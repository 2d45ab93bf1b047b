import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { AppError, deferred } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { takeFence } from '../../src/store/sqlite/writer.ts';
import { until } from '../support/until.ts';
import { temporaryPlace } from './contract/life.ts';
import { assistant, event } from './samples.ts';

const open = (dataDir: string, role: 'server' | 'tool' = 'server') =>
	openSqliteStore({ dataDir, role, writer: workerEntry('store') });

test('refuses a second server on the same folder with a sentence that names the remedy', async (t) => {
	const dataDir = await temporaryPlace(t);
	{
		await using first = await open(dataDir);
		const refusal = {
			code: 'unavailable',
			message: `Another Parley is running on ${dataDir}. Stop it, or choose another PARLEY_DATA_DIR.`,
		};
		await assert.rejects(open(dataDir), refusal);
		const record = assistant();
		const { outcome } = await first.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
		assert.equal(outcome, 'committed', 'the first is not disturbed');
		await assert.rejects(open(dataDir), refusal);
	}
	const next = await open(dataDir);
	await next[Symbol.asyncDispose]();
});

test('a tool writes beside a running server and leaves the server’s uploads alone', async (t) => {
	const dataDir = await temporaryPlace(t);
	await using server = await open(dataDir);
	const rest = deferred<void>();
	async function* bytes() {
		yield Buffer.from('half ');
		await rest.promise;
		yield Buffer.from('an upload');
	}
	const receiving = server.blobs.receive(bytes());
	const incoming = join(dataDir, 'blobs', 'incoming');
	await until('the upload is under way', async () => (await readdir(incoming)).length === 1);
	const record = assistant();
	{
		await using tool = await open(dataDir, 'tool');
		assert.deepEqual(tool.fence, server.fence);
		await tool.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
	}
	assert.deepEqual({ ...(await server.get('assistants', record.id)) }, { ...record, version: 1 });
	rest.resolve();
	const blob = await receiving;
	await blob.persist();
	assert.equal((await server.blobs.read(blob.hash))?.toString(), 'half an upload');
	const set = { name: 'Renamed' };
	const { outcome } = await server.commit({ write: [{ op: 'patch', kind: 'assistants', id: record.id, set }] });
	assert.equal(outcome, 'committed', 'the server is not fenced by the tool');
});

test('after SIGKILL the folder is free at once and has everything acknowledged', async (t) => {
	const dataDir = await temporaryPlace(t);
	const script = fileURLToPath(new URL('./store-process.ts', import.meta.url));
	const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
	t.after(() => child.kill('SIGKILL'));
	const exit = once(child, 'exit');
	const acknowledged: string[] = [];
	let refused: Promise<unknown> | undefined;
	for await (const line of createInterface({ input: child.stdout })) {
		if (line === 'open') refused = assert.rejects(open(dataDir), /Another Parley is running/);
		else acknowledged.push(line);
		if (acknowledged.length === 200) {
			await refused;
			child.kill('SIGKILL');
		}
	}
	assert.deepEqual(await exit, [null, 'SIGKILL']);

	await using store = await open(dataDir);
	assert.ok(acknowledged.length >= 200);
	for (const id of acknowledged) {
		assert.ok(await store.get('assistants', id), id);
		assert.equal((await store.events.after(id, 0, 10)).length, 1);
	}
	// What was written but not acknowledged any more is whole, too.
	for (const { id } of await store.list('assistants', { where: {}, order: 'asc', limit: 100_000 })) {
		assert.equal((await store.events.after(id, 0, 10)).length, 1);
	}
});

test('a former owner is fenced: it writes nothing and gets no jobs', async (t) => {
	const dataDir = await temporaryPlace(t);
	const failures: string[] = [];
	const onFailure = ({ message }: Error) => void failures.push(message);
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store'), onFailure });
	const [before, after] = [assistant(), assistant()];
	await store.commit({
		write: [{ op: 'insert', kind: 'assistants', record: before }],
		jobs: [{ op: 'enqueue', job: { id: 'job_1', kind: 'work', ref: 'doc_1', group: 'g', due_at: 0 } }],
	});
	const heard: unknown[] = [];
	store.onEvents((events) => heard.push(events));

	const other = new Database(databaseFile(dataDir));
	takeFence(other, 'main', 'another process');
	other.close();
	assert.equal(store.isWritable(), true, 'it has not noticed yet');

	const answer = { scope: 's', key: 'k', body_hash: 'h', status: 200, body: '', expires_at: Date.now() + 60_000 };
	assert.deepEqual(
		await Promise.all([
			store.commit({ write: [{ op: 'insert', kind: 'assistants', record: after }], events: [event('ws_1')] }),
			store.commit({ idempotency: answer }),
			store.commit({ idempotency: answer }),
			store.commit({ write: [{ op: 'remove', kind: 'assistants', id: before.id }] }),
		]),
		Array.from({ length: 4 }, () => ({ outcome: 'fenced' })),
	);
	assert.deepEqual(await store.jobs.claim('work', 1, 1000), []);
	assert.equal(await store.get('assistants', after.id), undefined);
	assert.ok(await store.get('assistants', before.id));
	assert.deepEqual(await store.events.after('ws_1', 0, 10), []);
	assert.deepEqual(heard, []);
	assert.equal(store.isWritable(), false);
	assert.equal(store.health.problem?.reason, 'database_taken_over');
	assert.deepEqual(failures, ['Another Parley has taken over the database: this one cannot change anything.']);
});

test('refuses a database of a newer Parley with a sentence, leaves it unchanged and unlocked', async (t) => {
	const dataDir = await temporaryPlace(t);
	await (await open(dataDir))[Symbol.asyncDispose]();
	const stamp = (version: number) => {
		const db = new Database(databaseFile(dataDir));
		const before = db.pragma('user_version', { simple: true }) as number;
		db.pragma(`user_version = ${version}`);
		db.close();
		return before;
	};
	const knownVersion = stamp(999);
	const sentence = `The database has schema version 999, this Parley knows ${knownVersion}. Start the newer Parley that wrote it.`;
	await assert.rejects(open(dataDir), (error) => {
		assert.ok(error instanceof AppError && error.code === 'unavailable');
		assert.ok(error.message.endsWith(sentence), error.message);
		return true;
	});
	assert.equal(stamp(knownVersion), 999);
	await (await open(dataDir))[Symbol.asyncDispose]();
});

test('a store whose writer cannot be started does not open', async (t) => {
	const dataDir = await temporaryPlace(t);
	const writer = { file: new URL('./no-such-script.js', import.meta.url) };
	await assert.rejects(openSqliteStore({ dataDir, writer }), /Cannot find module/);
});

test('a tool of another version than the server changes nothing and says which Parley to use', async (t) => {
	const dataDir = await temporaryPlace(t);
	await (await open(dataDir))[Symbol.asyncDispose]();
	const db = new Database(databaseFile(dataDir));
	const knownVersion = db.pragma('user_version', { simple: true }) as number;
	db.pragma(`user_version = ${knownVersion - 1}`);
	db.close();
	await assert.rejects(
		openSqliteStore({ dataDir, writer: workerEntry('store'), role: 'tool' }),
		new RegExp(`has schema version ${knownVersion - 1}, this command knows ${knownVersion}`),
	);
	const after = new Database(databaseFile(dataDir));
	assert.equal(after.pragma('user_version', { simple: true }), knownVersion - 1);
	after.close();
});
