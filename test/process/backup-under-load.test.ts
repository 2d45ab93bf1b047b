import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { listBackups } from '../../src/backup/index.ts';
import { sleep } from '../../src/base/index.ts';
import { backupSeries, databaseFile } from '../../src/store/index.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { program, type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** `npm run test:long` makes 100. */
const BACKUPS = Number(process.env.BACKUPS ?? 5);

const MAX_DOCUMENTS = 40;
const STEP_PAUSE_MS = 15;

test('each backup that is made under load restores to a state between what was acknowledged before and after it', async (t) => {
	await using server = await startServer();
	const load = await startLoad(server);
	const folder = await temporaryFolder(t);
	let last = '';
	let restoredLast: Counts | undefined;
	for (let at = 0; at < BACKUPS; at++) {
		const before = load.acknowledged();
		await until('work goes on', () => isMoreOfEach(load.acknowledged(), before));
		const known = load.acknowledged();
		const file = join(folder, `${at}.tar`);
		const made = await runProgram(server.dataDir, ['backup', file]);
		assert.equal(made.code, 0, made.err);
		const begun = load.begun();
		if (last !== '') await rm(last, { recursive: true });
		last = join(folder, `restored-${at}`);
		const restored = await runProgram(last, ['restore', file]);
		assert.equal(restored.code, 0, restored.err);
		const found = load.check(last);
		for (const kind of ['assistants', 'documents', 'messages'] as const) {
			const [least, most] = [known[kind], begun[kind]];
			assert.ok(found[kind] >= least && found[kind] <= most, `${kind}: ${least} <= ${found[kind]} <= ${most}`);
		}
		restoredLast = found;
		await rm(file);
	}
	await load.stop();
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());

	await using second = await startServer({ dataDir: last, key: server.key });
	const assistants = await second.call('GET', '/api/v1/assistants?limit=1');
	assert.equal(assistants.body.data[0].name, `Assistant ${(restoredLast?.assistants ?? 0) - 1}`);
	const { base, deployment } = load;
	await until('what was being indexed is indexed', async () => {
		const { body } = await second.call('GET', `/api/v1/knowledge-bases/${base}/status`);
		return body.status === 'ready';
	});
	const asked = { deployment_id: deployment, content: 'Where are the kettles?' };
	assert.equal((await second.call('POST', '/api/v1/messages', asked)).status, 201);
	assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.output());
});

test('backups that are killed at any moment leave nothing that looks like a backup and is none', async (t) => {
	await using server = await startServer();
	const load = await startLoad(server);
	const folder = await temporaryFolder(t);
	for (let at = 0; at < BACKUPS; at++) {
		const { command, args, env } = program;
		const child = spawn(command, [...args, 'backup', `${folder}/`], {
			cwd: tmpdir(),
			env: { PATH: process.env.PATH, HOME: process.env.HOME, PARLEY_DATA_DIR: server.dataDir, ...env },
			stdio: 'ignore',
		});
		const ended = new Promise((resolve) => child.once('close', resolve));
		// A backup takes about this long; from the first files that it makes on, in every second case.
		if (at % 2 === 0)
			await until('it works', async () => (await readdir(folder)).some(isUnfinished) || child.exitCode !== null);
		await sleep(randomInt(0, 400));
		child.kill('SIGKILL');
		await ended;
		for (const { name } of await listBackups(folder, backupSeries(server.dataDir))) {
			const verified = await runProgram(server.dataDir, ['verify', join(folder, name)]);
			assert.equal(verified.code, 0, verified.err);
			await rm(join(folder, name));
		}
	}
	await load.stop();
	const made = await runProgram(server.dataDir, ['backup', `${folder}/`]);
	assert.equal(made.code, 0, made.err);
	assert.deepEqual((await readdir(folder)).filter(isUnfinished), [], 'it removes what the killed ones left');
	// A killed backup does not hold files of removed documents.
	await until('only files of documents are stored', async () => {
		const db = new Database(databaseFile(server.dataDir), { readonly: true });
		const named = db.prepare('SELECT DISTINCT blob FROM documents WHERE blob IS NOT NULL ORDER BY blob').pluck().all();
		db.close();
		return JSON.stringify(await storedBlobs(server.dataDir)) === JSON.stringify(named);
	});
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
});

test('a restore that is killed at any moment can be repeated, and no server starts before', async (t) => {
	await using server = await startServer();
	const load = await startLoad(server);
	await until('there are documents', () => load.acknowledged().documents > 10);
	await load.stop();
	const folder = await temporaryFolder(t);
	const file = join(folder, 'backup.tar');
	assert.equal((await runProgram(server.dataDir, ['backup', file])).code, 0);
	const dataDir = join(folder, 'data');
	for (let at = 0; at < BACKUPS; at++) {
		await mkdir(dataDir, { recursive: true });
		const { command, args, env } = program;
		const child = spawn(command, [...args, 'restore', file], {
			cwd: tmpdir(),
			env: { PATH: process.env.PATH, HOME: process.env.HOME, PARLEY_DATA_DIR: dataDir, ...env },
			stdio: 'ignore',
		});
		const ended = new Promise((resolve) => child.once('close', resolve));
		const names = () => readdir(dataDir);
		await until('it works', async () => (await names()).includes('restore.incomplete') || child.exitCode !== null);
		await sleep(randomInt(0, 60));
		child.kill('SIGKILL');
		await ended;
		const found = await names();
		if (!found.includes('parley.db') && found.includes('restore.incomplete')) {
			const refused = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
			assert.deepEqual(
				[refused.code, /A restore into .* was interrupted\. Run "parley restore" again/.test(refused.err)],
				[1, true],
			);
			const repeated = await runProgram(dataDir, ['restore', file]);
			assert.equal(repeated.code, 0, repeated.err);
		}
		load.check(dataDir);
		await rm(dataDir, { recursive: true });
	}
});

interface Counts {
	assistants: number;
	/** Steps: documents that were added or removed. */
	documents: number;
	messages: number;
}

/** Workers that change a server, each one step after the other, and what a copy of its database must have. */
async function startLoad(server: ServerProcess) {
	const made = async (path: string, body: object) => {
		const answer = await server.call('POST', path, body);
		assert.equal(answer.status, 201, JSON.stringify(answer.body));
		return answer.body;
	};
	const base: string = (await made('/api/v1/knowledge-bases', { name: 'Manuals' })).id;
	const assistant: string = (await made('/api/v1/assistants', { name: 'Assistant 0' })).id;
	const deployment: string = (await made('/api/v1/deployments', { assistant_id: assistant })).id;
	const documents = `/api/v1/knowledge-bases/${base}/documents`;
	const begun: Counts = { assistants: 1, documents: 0, messages: 0 };
	const acknowledged: Counts = { assistants: 1, documents: 0, messages: 0 };
	/** The titles of the documents after each step. */
	const titlesAfter: string[][] = [[]];
	const ids: string[] = [];
	const steps = {
		assistants: (at: number) => made('/api/v1/assistants', { name: `Assistant ${at}` }),
		messages: (at: number) => made('/api/v1/messages', { deployment_id: deployment, content: `Question ${at}` }),
		async documents(at: number) {
			const titles = titlesAfter.at(-1) as string[];
			// Files are removed all the time.
			if (at % 3 === 2 || titles.length === MAX_DOCUMENTS) {
				titlesAfter.push(titles.slice(1));
				assert.equal((await server.call('DELETE', `${documents}/${ids.shift()}`)).status, 200);
			} else {
				titlesAfter.push([...titles, `Note ${at}`]);
				const content = `Shelf ${at} holds kettles. ${'They are blue. '.repeat(at % 100)}`;
				ids.push((await made(documents, { source_type: 'text', title: `Note ${at}`, content })).id);
			}
		},
	};
	let isStopped = false;
	const workers = (Object.keys(steps) as Array<keyof Counts>).map(async (kind) => {
		while (!isStopped) {
			await steps[kind](begun[kind]++);
			acknowledged[kind]++;
			// A hundred backups are of a small database.
			await sleep(STEP_PAUSE_MS);
		}
	});
	const work = Promise.all(workers);
	// It is awaited at the stop.
	work.catch(() => {});
	return {
		base,
		deployment,
		acknowledged: () => ({ ...acknowledged }),
		begun: () => ({ ...begun }),
		/** Checks that the database of a folder is the state after some steps of each worker. Returns their numbers. */
		check: (dataDir: string) => checkState(dataDir, base, titlesAfter),
		async stop() {
			isStopped = true;
			await work;
		},
	};
}

function checkState(dataDir: string, base: string, titlesAfter: readonly string[][]): Counts {
	const db = new Database(databaseFile(dataDir), { readonly: true });
	try {
		const texts = (sql: string) => db.prepare(sql).pluck().all() as string[];
		const assistants = texts('SELECT name FROM assistants ORDER BY rowid');
		assert.deepEqual(
			assistants,
			Array.from(assistants, (_, at) => `Assistant ${at}`),
		);
		const questions = texts("SELECT content FROM messages WHERE role = 'user' ORDER BY rowid");
		assert.deepEqual(
			questions,
			Array.from(questions, (_, at) => `Question ${at}`),
		);
		const replies = db.prepare("SELECT count(*) FROM messages WHERE role = 'assistant'").pluck().get();
		assert.equal(replies, questions.length, 'a question and its reply are one commit');
		const titles = texts('SELECT title FROM documents ORDER BY rowid');
		const step = titlesAfter.findIndex((expected) => JSON.stringify(expected) === JSON.stringify(titles));
		assert.notEqual(step, -1, `the documents after no step: ${titles}`);
		const total = db.prepare('SELECT documents_total FROM knowledge_bases WHERE id = ?').pluck().get(base);
		assert.equal(total, titles.length, 'documents are counted in the commit that adds them');
		return { assistants: assistants.length, documents: step, messages: questions.length };
	} finally {
		db.close();
	}
}

function isMoreOfEach(now: Counts, before: Counts): boolean {
	return (Object.keys(now) as Array<keyof Counts>).every((kind) => now[kind] > before[kind]);
}

const isUnfinished = (name: string) => name.endsWith('.partial');

async function storedBlobs(dataDir: string): Promise<string[]> {
	const folders = (await readdir(join(dataDir, 'blobs'))).filter((name) => name.length === 2);
	const names = await Promise.all(folders.map((name) => readdir(join(dataDir, 'blobs', name))));
	return names.flat().sort();
}
