import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/run-command.ts';

const runFile = promisify(execFile);
const program = findProgram('systemd-analyze');
const skip = program === null && 'systemd-analyze is not installed';
const script = new URL('../../scripts/deb.mjs', import.meta.url).href;
/** From 0 (confined) to 10. A unit without any restriction has 9.6. */
const MAX_EXPOSURE = 1.2;

const UNITS: Record<string, () => Promise<string>> = {
	'deploy/parley.service': () =>
		readFile(fileURLToPath(new URL('../../deploy/parley.service', import.meta.url)), 'utf8'),
	'the unit of the Debian package': async () => {
		const code = `import(${JSON.stringify(script)}).then(({ debianUnit }) => process.stdout.write(debianUnit()))`;
		return (await runFile(process.execPath, ['-e', code])).stdout;
	},
};

/** A copy whose executable exists on this machine. */
async function copyOf(t: TestContext, unit: string): Promise<string> {
	assert.match(unit, /^ExecStart=\/usr\/(local\/)?bin\/parley serve$/m);
	const path = join(await temporaryFolder(t), 'parley.service');
	await writeFile(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
	return path;
}

for (const [name, read] of Object.entries(UNITS)) {
	test(`systemd finds no mistake in ${name}, and the server has little access`, { skip }, async (t) => {
		const path = await copyOf(t, await read());
		const { stdout, stderr } = await runFile(program as string, ['verify', '--man=no', path]);
		assert.equal(stdout + stderr, '');
		const security = await runFile(program as string, ['security', '--offline=true', '--no-pager', path]);
		const exposure = Number(/Overall exposure level for parley\.service: ([\d.]+)/.exec(security.stdout)?.[1]);
		assert.ok(exposure <= MAX_EXPOSURE, security.stdout);
	});
}

test('systemd finds no mistake in the unit for Litestream', { skip }, async (t) => {
	const unit = await readFile(fileURLToPath(new URL('../../deploy/litestream.service', import.meta.url)), 'utf8');
	const path = join(await temporaryFolder(t), 'litestream.service');
	await writeFile(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
	const { stdout, stderr } = await runFile(program as string, ['verify', '--man=no', path]);
	assert.equal(stdout + stderr, '');
});

test('systemd finds a misspelled setting', { skip }, async (t) => {
	const unit = (await UNITS['deploy/parley.service']?.()) ?? '';
	const path = await copyOf(t, unit.replace('PrivateTmp=yes', 'PrivateTemp=yes'));
	assert.match((await runFile(program as string, ['verify', '--man=no', path])).stderr, /PrivateTemp/);
});
