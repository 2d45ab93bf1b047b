import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';

/** Runs a line of code with a log in a process of its own. */
function run(level: string, line: string, standardError: 'pipe' | number = 'pipe') {
	const face = new URL('../../src/base/index.ts', import.meta.url).href;
	const script = `import { createLog } from ${JSON.stringify(face)}; const log = createLog('${level}'); ${line}`;
	return spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
		encoding: 'utf8',
		maxBuffer: 64 * 1024 * 1024,
		cwd: new URL('../..', import.meta.url),
		stdio: ['ignore', 'pipe', standardError],
		timeout: 60_000,
	});
}

/** The same, and gives what that wrote. */
function written(level: string, line: string): { stdout: string; lines: Array<Record<string, unknown>> } {
	const { stdout, stderr, status } = run(level, line);
	assert.equal(status, 0, stderr);
	const lines = stderr.split('\n').filter((text) => text !== '');
	return { stdout, lines: lines.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

test('a log hides credentials in fields and nested objects, and writes only to standard error', () => {
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

test('writes every line that was logged before the process exits', () => {
	const { lines } = written('info', `for (let at = 0; at < 20_000; at++) log.info({ at }, 'line'); process.exit(0);`);
	assert.equal(lines.length, 20_000);
	assert.equal(lines.at(-1)?.at, 19_999);
});

const skip = !existsSync('/dev/full') && 'skipped: this system has no /dev/full';

test('a full disk under the log neither ends the process nor blocks its exit', { skip }, () => {
	const full = openSync('/dev/full', 'w');
	try {
		const goOn = "setTimeout(() => { log.info('again'); process.stdout.write('went on'); process.exit(3); }, 50);";
		const { stdout, status, signal } = run('info', `log.info('lost'); ${goOn}`, full);
		assert.deepEqual([stdout, status, signal], ['went on', 3, null]);
	} finally {
		closeSync(full);
	}
});

test('a log censors the texts of errors, with their causes', () => {
	const { lines } = written(
		'info',
		`const censoring = createLog('info', (text) => text.replaceAll('ada@example.com', '[email]'));
		const error = new Error('no ada@example.com', { cause: new Error('for ada@example.com') });
		censoring.warn({ err: Object.assign(error, { input: { to: ['ada@example.com'] } }) }, 'failed');
		censoring.warn({ error: 'of ada@example.com', detail: 'ada@example.com', status: 400 }, 'failed');
		log.warn({ error: 'a code' }, 'failed');`,
	);
	assert.equal(lines.length, 3);
	assert.doesNotMatch(JSON.stringify(lines), /ada@/);
	assert.equal((lines[0] as { err: Error }).err.message, 'no [email]: for [email]');
	assert.deepEqual([lines[1]?.error, lines[1]?.status, lines[2]?.error], ['of [email]', 400, 'a code']);
});

test('a log censors each text of a list of causes', () => {
	const { lines } = written(
		'info',
		`const censoring = createLog('info', (text) => text.replaceAll('ada@example.com', '[email]'));
		censoring.warn({ causes: ['first', 'of ada@example.com'] }, 'failed');`,
	);
	assert.deepEqual(lines[0]?.causes, ['first', 'of [email]']);
});

const VALUES = ['ada.lovelace@mail.example.com', '+44 7700 900123', '4111 1111 1111 1111'];

test('a log cuts the text of an error after it was censored, wherever an address or a number is', () => {
	const redaction = new URL('../../src/redaction/index.ts', import.meta.url).href;
	const { lines } = written(
		'info',
		`const { censorPersonalData } = await import(${JSON.stringify(redaction)});
		const { boundedErrorText } = await import(${JSON.stringify(new URL('../../src/base/index.ts', import.meta.url).href)});
		const censoring = createLog('info', censorPersonalData);
		for (const value of ${JSON.stringify(VALUES)}) for (const size of [1_000, 5_000, 10_000]) for (let at = -40; at < 10; at++) {
			const before = 'invalid value '.repeat(1_000).slice(0, size + at);
			censoring.warn({ error: boundedErrorText(before + ' ' + value + ' and more'.repeat(1_000)) }, 'failed');
		}
		for (const value of ${JSON.stringify(VALUES)})
			for (let at = 0; at < 40; at++) censoring.warn({ causes: ['x'.repeat(at) + (' ' + value).repeat(2_000)] }, 'failed');`,
	);
	assert.equal(lines.length, VALUES.length * (3 * 50 + 40));
	for (const { error, causes } of lines) {
		const text = (error ?? (causes as string[])[0]) as string;
		assert.ok(text.length <= 1_000, String(text.length));
		assert.doesNotMatch(text, /\bad|lovelace|@|\d/, text.slice(-60));
	}
});
