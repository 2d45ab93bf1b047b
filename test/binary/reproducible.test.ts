import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { executable, skip } from './executable.ts';

const script = new URL('../../scripts/binary.mjs', import.meta.url);
const build = fileURLToPath(new URL('../../.build/', import.meta.url));

/** A build takes two minutes and more on a busy machine. */
const BUILD_DEADLINE_MS = 6 * 60_000;

/** What a build from the sources as they are now gives. */
async function builtAnew(folder: string): Promise<Buffer> {
	const place = join(folder, 'parley');
	const code = `import(${JSON.stringify(script.href)}).then(({ buildTo }) => buildTo(${JSON.stringify(place)}))`;
	const child = spawn(process.execPath, ['-e', code], { stdio: 'inherit', timeout: BUILD_DEADLINE_MS });
	const [status] = await once(child, 'exit');
	assert.equal(status, 0);
	return readFile(place);
}

test('a second build gives the same file, byte for byte', { skip }, async (t) => {
	// On the same file system as the build's own folders: the result is moved there.
	const folder = await mkdtemp(join(build, 'again-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const anew = await builtAnew(folder);
	if (anew.equals(await readFile(executable))) return;
	// A source may have changed since the executable was built.
	assert.ok(anew.equals(await builtAnew(folder)), 'two builds of the same sources differ');
});
