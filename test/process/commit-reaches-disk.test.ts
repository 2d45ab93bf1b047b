import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const CREATES = 20;
const probe = spawnSync('strace', ['-f', '-e', 'trace=none', 'true']);
const unavailable =
	probe.error !== undefined
		? 'skipped: strace is not installed'
		: probe.status !== 0
			? `skipped: this machine does not let strace trace: ${probe.stderr.toString().trim().split('\n').at(-1)}`
			: false;

/** A system call as strace wrote it; `start` and `end` are line numbers, which are in the order of events. */
interface Call {
	name: string;
	/** Everything between the parentheses, and the result. */
	text: string;
	start: number;
	end: number;
}

test('syncs every create to the write-ahead log before the response', { skip: unavailable }, async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-trace-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const traceFile = join(folder, 'trace');
	const syscalls = 'fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg';
	// -D makes the server the child of this process, not the tracer; -s is long enough to show a whole database page.
	const wrapperCommand = [
		'strace',
		'-D',
		'-f',
		'-yy',
		'-ttt',
		'-s',
		'9000',
		'-e',
		`trace=${syscalls}`,
		'-o',
		traceFile,
	];
	const names = Array.from({ length: CREATES }, (_, index) => `traced create ${index} of ${CREATES}`);
	{
		await using server = await startServer({ wrapperCommand });
		for (const name of names) {
			const { status, body } = await server.call('POST', '/api/v1/assistants', { name });
			assert.equal(status, 201);
			assert.equal(body.name, name);
		}
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const calls = parseTrace(await completeTrace(traceFile));
	const isWal = (call: Call) => /^\d+<[^>]*-wal>/.test(call.text);
	for (const name of names) {
		const written = calls.find((call) => !isSync(call) && isWal(call) && call.text.includes(name));
		assert.ok(written, `"${name}" was written to the write-ahead log`);
		const answered = calls.find((call) => /^\d+<TCP/.test(call.text) && call.text.includes(name));
		assert.ok(answered, `"${name}" was answered`);
		const synced = calls.find(
			(call) => isSync(call) && isWal(call) && call.start > written.end && / = 0$/.test(call.text),
		);
		assert.ok(synced, `the write-ahead log was synced after "${name}" was written`);
		assert.ok(synced.end < answered.start, `the sync of "${name}" had returned before its answer was sent`);
	}
});

test('syncs the folders of new files before anything depends on the files', { skip: unavailable }, async (t) => {
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-trace-')));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const traceFile = join(folder, 'trace');
	const parent = join(folder, 'made');
	const dataDir = join(parent, 'data');
	// A system has one of these calls.
	const syscalls = 'fsync,linkat,mkdirat,renameat,renameat2,sendto,sendmsg,writev,write,?link,?mkdir,?rename';
	const wrapperCommand = ['strace', '-D', '-f', '-yy', '-ttt', '-s', '400', '-e', `trace=${syscalls}`, '-o', traceFile];
	const title = 'A traced upload';
	{
		await using server = await startServer({ dataDir: folder, wrapperCommand, env: { PARLEY_DATA_DIR: dataDir } });
		const base = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Traced' });
		const form = new FormData();
		form.set('title', title);
		form.set('file', new Blob(['Some text to keep.']), 'traced.txt');
		const { status } = await server.call('POST', `/api/v1/knowledge-bases/${base.body.id}/documents`, form);
		assert.equal(status, 201);
		await server.stop();
	}
	const calls = parseTrace(await completeTrace(traceFile));
	const first = (what: string, matches: (call: Call) => boolean, after?: Call): Call => {
		const found = calls.find((call) => matches(call) && call.start > (after?.end ?? -1));
		return found ?? assert.fail(`no call that ${what}`);
	};
	const syncOf = (path: string, after: Call) =>
		first(`syncs ${path}`, (call) => isSync(call) && call.text.includes(`<${path}>`) && / = 0$/.test(call.text), after);

	// The server listens before it creates files, and answers 503 until it is ready.
	const ready = first('says that the server is ready', ({ text }) => text.includes('Parley listens on'));
	for (const made of [parent, dataDir]) {
		const making = first(`makes ${made}`, ({ name, text }) => name.startsWith('mkdir') && text.includes(`"${made}"`));
		assert.ok(syncOf(dirname(made), making).end < ready.start, `${made} is durable before the server is ready`);
	}
	for (const name of ['secret.key', 'secret.check']) {
		const path = join(dataDir, name);
		const linked = first(`links ${name}`, (call) => call.name.startsWith('link') && call.text.includes(`"${path}"`));
		assert.ok(syncOf(dataDir, linked).end < ready.start, `${name} is durable before the server is ready`);
	}
	const blobs = join(dataDir, 'blobs');
	const kept = first('keeps the upload', ({ name, text }) => name.startsWith('rename') && text.includes(`"${blobs}/`));
	const shard = dirname(/, "([^"]+)"/.exec(kept.text.replace(/AT_FDCWD<[^>]*>, /g, ''))?.[1] ?? assert.fail(kept.text));
	const answered = first('answers', ({ text }) => /^\d+<TCP/.test(text) && text.includes(title));
	for (const synced of [shard, blobs]) {
		assert.ok(syncOf(synced, kept).end < answered.start, `${synced} is synced before the upload is answered`);
	}
});

const isSync = (call: Call) => call.name === 'fsync' || call.name === 'fdatasync';

/** What strace has written, once the traced process has ended. */
function completeTrace(file: string): Promise<string> {
	return until('the trace is complete', async () => {
		const text = await readFile(file, 'utf8');
		return /\+\+\+ (exited|killed)[^\n]*\n$/.test(text) && text;
	});
}

/** Reads `strace -f` output, joining calls that another thread's call interrupted in the listing. */
function parseTrace(trace: string): Call[] {
	const calls: Call[] = [];
	const open = new Map<string, Call>();
	trace.split('\n').forEach((line, number) => {
		const begun = /^(\d+) +[\d.]+ (\w+)\((.*)$/.exec(line);
		const resumed = /^(\d+) +[\d.]+ <\.\.\. (\w+) resumed>(.*)$/.exec(line);
		if (begun) {
			const [, thread = '', name = '', rest = ''] = begun;
			const unfinished = rest.endsWith(' <unfinished ...>');
			const call = { name, text: rest, start: number, end: number };
			calls.push(call);
			if (unfinished) open.set(thread, call);
		} else if (resumed) {
			const [, thread = '', , rest = ''] = resumed;
			const call = open.get(thread);
			open.delete(thread);
			if (!call) return;
			call.text = call.text.replace(/ <unfinished \.\.\.>$/, '') + rest;
			call.end = number;
		}
	});
	return calls;
}
