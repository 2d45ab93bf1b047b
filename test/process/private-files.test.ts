import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { program, startServer } from '../support/server-process.ts';

/** A folder that all users may read, as an operator may make one, with a default mode for files that all may read too. */
async function openFolder(t: TestContext): Promise<string> {
	const before = process.umask(0o022);
	const folder = await mkdtemp(join(tmpdir(), 'parley-private-'));
	t.after(async () => {
		process.umask(before);
		await rm(folder, { recursive: true, force: true });
	});
	await chmod(folder, 0o755);
	return folder;
}

/** What the folder holds, with who may do what to it; what others may do to the folder itself is its maker's business. */
async function modesIn(folder: string): Promise<Map<string, string>> {
	const modes = new Map<string, string>();
	for (const entry of await readdir(folder, { recursive: true })) {
		modes.set(entry, ((await stat(join(folder, entry))).mode & 0o777).toString(8));
	}
	return modes;
}

function assertPrivate(modes: Map<string, string>): void {
	const open = [...modes].filter(([, mode]) => !mode.endsWith('00'));
	assert.deepEqual(open, []);
}

test('files of a server are private to its user, also in an existing folder that is open to all', async (t) => {
	const dataDir = await openFolder(t);
	await using server = await startServer({ dataDir });
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
	const form = new FormData();
	form.set('file', new Blob(['The kettle has a warranty of three years.']), 'kettle.txt');
	const uploaded = await server.call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, form);
	assert.equal(uploaded.status, 201, JSON.stringify(uploaded.body));
	const modes = await modesIn(dataDir);
	for (const [name, mode] of [
		['parley.db', '600'],
		['parley.db-wal', '600'],
		['secret.key', '600'],
		['blobs', '700'],
		['blobs/incoming', '700'],
	] as const) {
		assert.equal(modes.get(name), mode, name);
	}
	assert.ok(
		[...modes.keys()].some((name) => /^blobs\/[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name)),
		'the upload is among them',
	);
	assertPrivate(modes);
	assert.equal((await stat(dataDir)).mode & 0o777, 0o755, 'the folder is left as it was made');
});

test('files of a command are private to its user too', async (t) => {
	const dataDir = await openFolder(t);
	{
		await using server = await startServer({ dataDir });
		await server.stop();
	}
	// As after copying the database without its uploads: the command makes their folder again.
	await rm(join(dataDir, 'blobs'), { recursive: true });
	const { PATH, HOME } = process.env;
	const env = { PATH, HOME, PARLEY_DATA_DIR: dataDir, ...program.env };
	await promisify(execFile)(program.command, [...program.args, 'keys', 'create'], {
		cwd: dataDir,
		env,
		timeout: 60_000,
	});
	const modes = await modesIn(dataDir);
	assert.equal(modes.get('blobs'), '700');
	assertPrivate(modes);
});
