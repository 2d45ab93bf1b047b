import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Runs a line of code with a log in a process of its own, and gives what that wrote. */
function written(level: string, line: string): { stdout: string; lines: Array<Record<string, unknown>> } {
	const face = new URL('../../src/base/index.ts', import.meta.url).href;
	const script = `import { createLog } from ${JSON.stringify(face)}; const log = createLog('${level}'); ${line}`;
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		['--import', 'tsx', '--input-type=module', '--eval', script],
		{ encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, cwd: new URL('../..', import.meta.url) },
	);
	assert.equal(status, 0, stderr);
	const lines = stderr.split('\n').filter((text) => text !== '');
	return { stdout, lines: lines.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

test('a log hides credentials in what is logged and in the objects within it, and writes to standard error alone', () => {
	const { stdout, lines } = written(
		'info',
		`log.debug('below the level');
		log.info({
			key: 'LEAK', user: 'ann', headers: { authorization: 'LEAK', cookie: 'LEAK', accept: 'text/html' },
			request: { headers: { authorization: 'LEAK' } }, tool: { auth: { token: 'LEAK', password: 'LEAK' } }, none: null,
		}, 'hello');`,
	);
	assert.equal(stdout, '');
	assert.equal(lines.length, 1);
	const line = lines[0] as { msg: string; user: string; headers: Record<string, string> };
	assert.deepEqual([line.msg, line.user, line.headers.accept], ['hello', 'ann', 'text/html']);
	assert.doesNotMatch(JSON.stringify(line), /LEAK/);
});

test('what was logged before the process exits is written, all of it', () => {
	const { lines } = written('info', `for (let at = 0; at < 20_000; at++) log.info({ at }, 'line'); process.exit(0);`);
	assert.equal(lines.length, 20_000);
	assert.equal(lines.at(-1)?.at, 19_999);
});
