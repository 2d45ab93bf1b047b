import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('every create is synced to the write-ahead log before its answer leaves', { skip: unavailable }, async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-trace-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const traceFile = join(folder, 'trace');
	const syscalls = 'fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg';
	// -D keeps the server our child and the tracer apart; -s is long enough to show a whole database page.
	const under = ['strace', '-D', '-f', '-yy', '-ttt', '-s', '9000', '-e', `trace=${syscalls}`, '-o', traceFile];
	const names = Array.from({ length: CREATES }, (_, index) => `traced create ${index} of ${CREATES}`);
	{
		await using server = await startServer({ under });
		for (const name of names) {
			const { status, body } = await server.call('POST', '/api/v1/assistants', { name });
			assert.equal(status, 201);
			assert.equal(body.name, name);
		}
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const trace = await until('the trace is complete', async () => {
		const text = await readFile(traceFile, 'utf8');
		return /\+\+\+ (exited|killed)[^\n]*\n$/.test(text) && text;
	});

	const calls = parseTrace(trace);
	const isWal = (call: Call) => /^\d+<[^>]*-wal>/.test(call.text);
	const isSync = (call: Call) => call.name === 'fsync' || call.name === 'fdatasync';
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
