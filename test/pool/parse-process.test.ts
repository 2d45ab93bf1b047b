// Own process: it looks at the child processes and the descriptors of the process.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { shortageOf } from '../../src/base/index.ts';
import type { ParseJob } from '../../src/contract/index.ts';
import { createWorkerPool, type WorkerPool, type WorkerPoolLimits } from '../../src/pool/index.ts';
import { until } from '../support/until.ts';
import { childProcesses } from './child-processes.ts';

let folder: string;
before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-parse-process-'));
});
after(() => rm(folder, { recursive: true }));

const skip = process.platform !== 'linux' && 'there is no /proc here';

const logged: Array<Record<string, unknown>> = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });

/** A pool whose worker executes the text of a document as a command. */
function openPool(limits: Partial<WorkerPoolLimits> = {}, threads = 2): WorkerPool {
	const parseWorker = { file: new URL('./hostile-worker.mjs', import.meta.url), execArgv: [] };
	return createWorkerPool({ threads, log, limits, parseWorker });
}

let files = 0;

async function document(text: string): Promise<ParseJob> {
	const path = join(folder, `document-${files++}`);
	await writeFile(path, text);
	return { path, file_name: 'a.txt', content_type: null, title: null, url: null };
}

/** A document whose parse runs until the test releases it. */
class Held {
	readonly file = join(folder, `held-${files++}`);
	readonly document = document(`WAIT ${this.file}`);

	/** Waits until a process other than `former` parses the document. @returns its id */
	process(former?: number): Promise<number> {
		return until('the document is being parsed', async () => {
			const pid = Number(await readFile(this.file, 'utf8').catch(() => ''));
			return pid > 0 && pid !== former && pid;
		});
	}

	letGo(): Promise<void> {
		return rm(this.file);
	}
}

const textOf = async (parsing: ReturnType<WorkerPool['parse']>) => (await parsing).chunks[0]?.text;

const hasEnded = async (pid: number) => {
	const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
	return status === null || status.includes(') Z ');
};

for (const [order, what] of [
	['ABORT', 'ends its process'],
	['BUFFERS', 'takes more memory than the process may'],
] as const) {
	test(`a document that ${what} is given up, and harmless documents beside it are parsed`, async () => {
		await using pool = openPool({ parseRssMb: 200, heapMb: 64 });
		const bomb = assert.rejects(pool.parse(await document(order)), {
			code: 'resource_limit',
			message: 'Reading the file takes more memory than this server allows.',
		});
		const innocent = await Promise.all(Array.from({ length: 6 }, (_, at) => document(`innocent ${at}`)));
		const texts = await Promise.all(innocent.map((job) => textOf(pool.parse(job))));
		assert.deepEqual(
			texts,
			innocent.map((_, at) => `innocent ${at}`),
		);
		await bomb;
		assert.equal(await textOf(pool.parse(await document('another'))), 'another');
		const told = logged.filter(({ msg }) => msg === 'the process that parses documents has ended');
		assert.ok(told.length >= 2, 'each end is logged with its cause');
		assert.ok(told.every(({ reason, pid }) => typeof reason === 'string' && typeof pid === 'number'));
	});
}

test('a document that exceeds a limit while its scans are looked for is parsed without that', async () => {
	const parseWorker = { file: new URL('./hostile-worker.mjs', import.meta.url), execArgv: [] };
	const recognition = { library: '', languages: [] };
	await using pool = createWorkerPool({ threads: 1, log, parseWorker, recognition });
	assert.equal(await textOf(pool.parse(await document('PICTURES'))), 'PICTURES');
	await assert.rejects(pool.parse(await document('ABORT')), { code: 'resource_limit' });
});

test('parses the documents of a killed process once more, each alone', async () => {
	await using pool = openPool();
	const [first, second] = [new Held(), new Held()];
	const parsing = [pool.parse(await first.document), pool.parse(await second.document)];
	const killed = await first.process();
	assert.equal(await second.process(), killed, 'side by side in one process');
	process.kill(killed, 'SIGKILL');
	const fresh = await first.process(killed);
	// Another document would already be in the process if it were allowed to run beside this one.
	const third = pool.parse(await document('third'));
	assert.equal(await second.process(), killed, 'not taken up yet');
	await first.letGo();
	assert.notEqual(await second.process(killed), fresh, 'each in a process of its own');
	await second.letGo();
	assert.equal((await Promise.all([...parsing, third])).length, 3);
});

test('a document that must be parsed alone and other documents wait for each other', async () => {
	await using pool = openPool();
	const [beside, alone] = [new Held(), new Held()];
	const first = pool.parse(await beside.document);
	const pid = await beside.process();
	const second = pool.parse(await alone.document, undefined, { isolated: true });
	await beside.letGo();
	assert.notEqual(await alone.process(), pid, 'in a fresh process');
	await until('the former process is gone', () => hasEnded(pid));
	await alone.letGo();
	await Promise.all([first, second]);
});

test('a job that is cancelled while it waits to be parsed alone ends with the caller’s reason', async () => {
	await using pool = openPool();
	const beside = new Held();
	const first = pool.parse(await beside.document);
	await beside.process();
	const ending = new AbortController();
	const waiting = pool.parse(await document('alone'), ending.signal, { isolated: true });
	ending.abort(new Error('The server is stopping.'));
	await assert.rejects(waiting, /The server is stopping/);
	await beside.letGo();
	await first;
});

test('ends an idle process and starts another for the next document', async () => {
	await using pool = openPool({ parseIdleTimeoutMs: 1 });
	const held = new Held();
	const parsing = pool.parse(await held.document);
	const pid = await held.process();
	await held.letGo();
	await parsing;
	await until('the process has ended', () => hasEnded(pid));
	assert.equal(await textOf(pool.parse(await document('next'))), 'next');
});

test('a process that was started early parses the next document, or ends when none comes', { skip }, async () => {
	{
		await using pool = openPool();
		pool.warmUp();
		pool.warmUp();
		const warm = await until('it runs', async () => (await childProcesses())[0]);
		const held = new Held();
		const parsing = pool.parse(await held.document);
		assert.equal(await held.process(), warm);
		await held.letGo();
		await parsing;
	}
	await using pool = openPool({ parseIdleTimeoutMs: 200 });
	pool.warmUp();
	const pid = await until('it runs', async () => (await childProcesses())[0]);
	await until('it has ended', () => hasEnded(pid));
});

test('a closed pool starts no process early', { skip }, async () => {
	const pool = openPool();
	await pool[Symbol.asyncDispose]();
	pool.warmUp();
	assert.deepEqual(await childProcesses(), []);
});

test('closing a pool ends its process, and it starts no other', async () => {
	const held = new Held();
	let parsing: Promise<void>;
	let pid: number;
	{
		await using pool = openPool();
		parsing = assert.rejects(pool.parse(await held.document), { code: 'unavailable' });
		pid = await held.process();
	}
	await parsing;
	assert.ok(await hasEnded(pid));
});

test('gives up a document that fills the heap of its thread, and the process continues', async () => {
	await using pool = openPool({ heapMb: 64 });
	const held = new Held();
	const beside = pool.parse(await held.document);
	await held.process();
	await assert.rejects(pool.parse(await document('HEAP')), { code: 'resource_limit' });
	await held.letGo();
	await beside;
});

test('threads that cannot be started do not fail the document', async () => {
	const parseWorker = { file: new URL('./no-such-worker.mjs', import.meta.url), execArgv: [] };
	await using pool = createWorkerPool({ threads: 2, log, parseWorker });
	await assert.rejects(pool.parse(await document('innocent')), (error) => shortageOf(error) !== null);
	assert.match(JSON.stringify(logged.at(-1)), /no-such-worker/, 'the log says why');
});

test('a process that cannot be started is a shortage of the system', async () => {
	const { execPath } = process;
	process.execPath = join(folder, 'no-such-program');
	try {
		await using pool = openPool();
		await assert.rejects(pool.parse(await document('innocent')), (error) => shortageOf(error) !== null);
		process.execPath = execPath;
		assert.equal(await textOf(pool.parse(await document('next'))), 'next');
	} finally {
		process.execPath = execPath;
	}
});

test('the process inherits neither secrets nor descriptors, and holds neither socket nor database', {
	skip,
}, async () => {
	const server = createServer().listen(0, '127.0.0.1');
	process.env.PARLEY_SECRET_KEY = 'not to be handed on';
	const { TMPDIR } = process.env;
	process.env.TMPDIR = folder;
	try {
		await using pool = openPool();
		const held = new Held();
		const parsing = pool.parse(await held.document);
		parsing.catch(() => {});
		const pid = await held.process();
		assert.notEqual(pid, process.pid);
		const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((line) => line !== '');
		const names = environment.map((line) => line.split('=')[0]).toSorted();
		const temporary = new Set(['TMPDIR', 'TMP', 'TEMP']);
		assert.deepEqual(
			names.filter((name) => !temporary.has(name ?? '')),
			['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_OPTIONS'],
		);
		assert.ok(environment.includes(`TMPDIR=${folder}`), 'the folder for temporary files that the operator has chosen');
		const theirs = await descriptors(pid);
		const own = new Set(await descriptors(process.pid));
		// The test runner leaves some descriptors open in every process.
		for (const passedOn of await descriptors(process.ppid)) own.delete(passedOn);
		const shared = theirs.filter((one) => own.has(one) && one !== '/dev/null' && !one.startsWith('anon_inode:'));
		assert.deepEqual(shared, [], 'no socket, pipe or file of this process');
		const sockets = theirs.filter((one) => one.startsWith('socket:'));
		assert.ok(sockets.length <= 2, `its channel and its standard error: ${sockets.join()}`);
		await held.letGo();
		await parsing;
	} finally {
		delete process.env.PARLEY_SECRET_KEY;
		if (TMPDIR === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = TMPDIR;
		server.close();
	}
});

/** The targets of a process's descriptors. */
async function descriptors(pid: number): Promise<string[]> {
	const names = await readdir(`/proc/${pid}/fd`);
	return Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
}
