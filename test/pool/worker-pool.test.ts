import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AppError, createLog } from '../../src/base/index.ts';
import type { ParseJob, TrainJob } from '../../src/contract/index.ts';
import { createWorkerPool, type WorkerPoolLimits, WorkLimitExceeded } from '../../src/pool/index.ts';
import { ThreadPool } from '../../src/pool/thread-pool.ts';
import { workerEntry } from '../../src/pool/worker-entry.ts';
import { databaseFile, openSqliteStore } from '../../src/store/index.ts';
import { until } from '../support/until.ts';

let folder: string;
/** Stores a file. */
async function store(file_name: string, text: string): Promise<ParseJob> {
	const path = join(folder, file_name);
	await writeFile(path, text);
	return { path, file_name, content_type: null, title: null, url: null };
}

let small: ParseJob;
/** A file whose parse takes many times longer than the start of a thread. */
let large: ParseJob;
let endless: ParseJob;
let spin: ParseJob;
let hungry: ParseJob;
before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-pool-'));
	small = await store('small.txt', 'The warranty covers all defects for two years.');
	endless = await store('endless.txt', `WAIT ${join(folder, 'never-removed')}`);
	spin = await store('spin.txt', 'SPIN without end.');
	hungry = await store('hungry.txt', 'HEAP without end.');
	large = await store('large.html', `<html><body>${'<div><p>The <b>warranty</b> covers it.</p></div>'.repeat(90_000)}`);
});
after(() => rm(folder, { recursive: true }));

/** A pool whose parser executes the text of a document as a command. */
const openHostilePool = (limits?: Partial<WorkerPoolLimits>) =>
	createWorkerPool({
		threads: 1,
		log: createLog('silent'),
		parseWorker: { file: new URL('./hostile-worker.mjs', import.meta.url), execArgv: [] },
		...(limits ? { limits } : {}),
	});

const openPool = (limits?: Partial<WorkerPoolLimits>) =>
	createWorkerPool({ threads: 1, log: createLog('silent'), ...(limits ? { limits } : {}) });

test('a thread imports its module: a thread that is ended while it requires one would end the server', async () => {
	const { execArgv } = workerEntry('search');
	const worker = { file: new URL('./loading-worker.mjs', import.meta.url), execArgv };
	const limits = { maxThreads: 1, idleMs: 0, heapMb: 64, maxQueued: 1, closeMs: 0 };
	await using threads = new ThreadPool({ name: 'test', worker, ...limits, log: createLog('silent'), onRestart() {} });
	const limit = { ms: 60_000, startsAt: 'call' } as const;
	const stack = await threads.run<string>({}, limit, undefined, (cause) => assert.fail(String(cause)));
	assert.match(stack, /ModuleJob\.run/);
	assert.doesNotMatch(stack, /Module\.require/);
});

test('returns a stored file as chunks, and a bad file as an error with a reason', async () => {
	await using pool = openPool();
	assert.equal(pool.size, 1);
	const { format, language, chunks } = await pool.parse(small);
	assert.deepEqual([format, language, chunks.length], ['txt', 'en', 1]);
	const bad = join(folder, 'bad.pdf');
	await writeFile(bad, '%PDF-1.7 nothing more');
	await assert.rejects(pool.parse({ ...small, path: bad, file_name: 'bad.pdf' }), { code: 'unreadable_file' });
	const missing = pool.parse({ ...small, path: join(folder, 'missing') });
	await assert.rejects(missing, { code: 'unavailable' }, 'our own lost file is no fault of the document');
});

test('rejects a job beyond the queue bound at once as unavailable, and finishes the others', async () => {
	await using pool = openPool({ maxQueued: 1 });
	const jobs = [pool.parse(small), pool.parse(small)];
	await assert.rejects(pool.parse(small), { code: 'unavailable', retry_after: 1 });
	assert.equal((await Promise.all(jobs)).length, 2);
});

test('gives up a file that uses up its processor time; the next file in the queue has its full time', async () => {
	await using pool = openHostilePool({ parseCpuMs: 1500 });
	const spinning = assert.rejects(pool.parse(spin), {
		code: 'resource_limit',
		message: 'Reading the file takes more than 1.5 seconds of processor time.',
	});
	const waiting = pool.parse(small);
	await spinning;
	assert.equal((await waiting).chunks.length, 1);
});

test('does not give up a file that gets no processor time, as on a busy machine', async () => {
	const limits = { parseCpuMs: 300 };
	await using busy = openHostilePool(limits);
	await using other = openHostilePool(limits);
	const held = join(folder, 'held');
	const parsing = busy.parse(await store('held.txt', `WAIT ${held}`));
	await until('the file is being parsed', () => existsSync(held));
	// Meanwhile more time passes than the limit allows.
	await assert.rejects(other.parse(spin), { code: 'resource_limit' });
	await rm(held);
	assert.equal((await parsing).chunks.length, 1);
});

test('gives up a file whose parse does not end as unavailable, so that it is retried', async () => {
	await using pool = openHostilePool({ parseTimeoutMs: 100 });
	await assert.rejects(pool.parse(endless), {
		code: 'unavailable',
		message: 'Reading the file did not end within 0.1 seconds.',
	});
});

test('gives up a file that takes too much memory with a reason, and reads the next one', async () => {
	await using pool = openHostilePool({ heapMb: 64 });
	await assert.rejects(pool.parse(hungry), {
		code: 'resource_limit',
		message: 'Reading the file takes more memory than this server allows.',
	});
	assert.equal((await pool.parse(small)).chunks.length, 1);
});

test('a cancelled job ends with the caller’s reason, whether it runs or waits, and its thread is free again', async () => {
	await using pool = openPool();
	const ending = new AbortController();
	const reason = new Error('The server is stopping.');
	const ends = [pool.parse(large, ending.signal), pool.parse(small, ending.signal)].map((job) =>
		assert.rejects(job, (error) => error === reason),
	);
	ending.abort(reason);
	await Promise.all(ends);
	await assert.rejects(pool.parse(small, ending.signal), (error) => error === reason);
	assert.equal((await pool.parse(small)).chunks.length, 1);
});

test('a training that exceeds its time limit or its heap can be told from other failures', async () => {
	const chunksOf = (count: number, terms: number) =>
		Array.from({ length: count }, (_, chunk) => ({
			title_terms: '',
			body_terms: Array.from({ length: terms }, (_, term) => `term${(chunk * 31 + term * 7) % 40_000}`).join(' '),
		}));
	const job = (chunks: TrainJob['chunks'], tuned: boolean): TrainJob => ({
		kind: 'train',
		database: join(folder, 'none.db'),
		generation: null,
		chunks,
		tuned,
	});
	await using slow = openPool({ trainTimeoutMs: 1 });
	await using tight = openPool({ heapMb: 24 });
	await using unlimited = openPool();
	for (const tuned of [true, false]) {
		await assert.rejects(slow.train(job(chunksOf(50, 50), tuned)), (error) => {
			return error instanceof WorkLimitExceeded && /took too long/.test(error.message);
		});
		await assert.rejects(tight.train(job(chunksOf(10_000, 400), tuned)), (error) => {
			return error instanceof WorkLimitExceeded && /memory/.test(error.message);
		});
		await assert.rejects(unlimited.train({ ...job([], tuned), generation: 'gen_none' }), (error) => {
			return error instanceof AppError && error.code === 'unavailable' && !(error instanceof WorkLimitExceeded);
		});
	}
});

test('a search that exceeds its time limit, waiting included, is unavailable', async () => {
	// The thread may go on for longer than its caller waits.
	for (const limits of [{ searchTimeoutMs: 1 }, { searchTimeoutMs: 1, searchStopMs: 600_000 }]) {
		await using pool = openPool(limits);
		const job = { database: join(folder, 'none.db'), targets: [], query: 'x', top_k: 1, min_score: 0 };
		for (const end of await Promise.allSettled([pool.search(job), pool.search(job)])) {
			assert.equal(end.status === 'rejected' && end.reason.code, 'unavailable');
			assert.match(end.status === 'rejected' ? end.reason.message : '', /took too long/);
		}
	}
});

test('an aborted search counts against the bound of the queue until it ends', async () => {
	await using pool = openPool({ maxQueued: 1 });
	const job = { database: join(folder, 'none.db'), targets: [], query: 'x', top_k: 1, min_score: 0 };
	const ending = new AbortController();
	const left = assert.rejects(pool.search(job, ending.signal), /gone/);
	ending.abort(new Error('gone'));
	await left;
	const waiting = assert.rejects(pool.search(job), { code: 'unavailable', message: 'The search failed.' });
	await assert.rejects(pool.search(job), { code: 'unavailable', message: /Too much work/ });
	await waiting;
});

test('a search that runs when the pool is closed ends by itself, and a waiting search does not begin', async () => {
	const dataDir = join(folder, 'searched');
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	await store[Symbol.asyncDispose]();
	const job = { database: databaseFile(dataDir), targets: [], query: 'x', top_k: 1, min_score: 0 };
	const pool = openPool();
	// The thread has started.
	await pool.search(job);
	const running = pool.search(job);
	const waiting = assert.rejects(pool.search(job), { code: 'unavailable', message: 'The server is stopping.' });
	await pool[Symbol.asyncDispose]();
	assert.deepEqual(await running, { hits: [], confidence: 0 });
	await waiting;
	await assert.rejects(pool.search(job), { code: 'unavailable', message: 'The server is stopping.' });
});

test('a job that does not end does not keep the pool open', async () => {
	const worker = { file: new URL('./endless-worker.mjs', import.meta.url), execArgv: [] };
	const limits = { maxThreads: 1, idleMs: 0, heapMb: 64, maxQueued: 1, closeMs: 1 };
	const threads = new ThreadPool({ name: 'test', worker, ...limits, log: createLog('silent'), onRestart() {} });
	const limit = { ms: 600_000, startsAt: 'call' } as const;
	const ended = threads.run({}, limit, undefined, () => new AppError('unavailable', 'The thread was ended.'));
	const rejected = assert.rejects(ended, { message: 'The thread was ended.' });
	await threads[Symbol.asyncDispose]();
	await rejected;
});
