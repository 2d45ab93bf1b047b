import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { emptyFolder, executable, runExecutable, skip, unpackingInto } from './executable.ts';

const STARTS = 6;

/** What lies in a folder that was unpacked: path and bytes. */
async function unpackedIn(cache: string): Promise<Map<string, Buffer>> {
	const versions = await readdir(cache);
	assert.equal(versions.length, 1, versions.join());
	const folder = join(cache, versions[0] as string);
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	const read = files
		// What Node keeps of its own work is not what was unpacked.
		.filter((path) => !path.startsWith(join(folder, 'compiled')))
		.toSorted()
		.map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const);
	return new Map(await Promise.all(read));
}

function assertSame(found: Map<string, Buffer>, wanted: Map<string, Buffer>): void {
	assert.deepEqual([...found.keys()], [...wanted.keys()]);
	for (const [path, bytes] of wanted) assert.ok(found.get(path)?.equals(bytes), `${path} is as it was`);
}

/** A cache folder into which it has been unpacked, and what is there. */
async function unpacked(t: TestContext): Promise<{ cache: string; folder: string; files: Map<string, Buffer> }> {
	const cache = join(await emptyFolder(t), 'cache');
	const { code, err } = await runExecutable(['--version'], { PARLEY_CACHE_DIR: cache }, '/');
	assert.equal(code, 0, err);
	return { cache, folder: join(cache, (await readdir(cache))[0] as string), files: await unpackedIn(cache) };
}

test('six servers that start at once on one empty cache folder all serve', { skip }, async (t) => {
	const { files } = await unpacked(t);
	const cache = join(await emptyFolder(t), 'cache');
	const program = unpackingInto(cache);
	const starting = Array.from({ length: STARTS }, () => startServer({ program }));
	const servers = await Promise.allSettled(starting);
	t.after(() => Promise.all(servers.map((one) => one.status === 'fulfilled' && one.value[Symbol.asyncDispose]())));
	for (const one of servers) {
		assert.ok(one.status === 'fulfilled', one.status === 'rejected' ? String(one.reason) : '');
		assert.equal((await one.value.call('GET', '/api/v1/assistants')).status, 200);
	}
	assertSame(await unpackedIn(cache), files);
});

test('the next start completes unpacking that was killed at any point', { skip }, async (t) => {
	const { files } = await unpacked(t);
	let halves = 0;
	// As soon as this file is there, or has been begun, and long before the last one is.
	for (const path of ['chunk-', 'main.js', 'native/', 'start.cjs', 'workers/']) {
		const cache = join(await emptyFolder(t), 'cache');
		const child = spawn(executable, ['--version'], { cwd: '/', env: { PARLEY_CACHE_DIR: cache }, stdio: 'ignore' });
		const exited = once(child, 'exit');
		// Awaited without a pause: a file takes less than that.
		for (let begun = false; !begun && child.exitCode === null; await new Promise(setImmediate)) {
			begun =
				existsSync(cache) && (await readdir(cache, { recursive: true })).some((name) => name.includes(`/${path}`));
		}
		child.kill('SIGKILL');
		await exited;
		const left = (await readdir(cache, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
		if (left.length < files.size) halves++;
		const { code, err } = await runExecutable(['--version'], { PARLEY_CACHE_DIR: cache }, '/');
		assert.deepEqual([code, err], [0, '']);
		const found = await unpackedIn(cache);
		for (const name of found.keys()) if (name.endsWith('.tmp')) found.delete(name);
		assertSame(found, files);
	}
	assert.ok(halves > 0, 'at least one was killed in the midst of it');
});

test('detects and rewrites damaged files in the cache folder', { skip }, async (t) => {
	const { cache, folder, files } = await unpacked(t);
	const flipped = Buffer.from(files.get('native/uws.node') as Buffer);
	flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] as number) ^ 0xff;
	await writeFile(join(folder, 'native/uws.node'), flipped);
	// As a power cut leaves them: the size is right, the blocks were never written.
	await writeFile(join(folder, 'main.js'), Buffer.alloc((files.get('main.js') as Buffer).length));
	await truncate(join(folder, 'native/better_sqlite3.node'), 0);
	await rm(join(folder, 'workers'), { recursive: true });
	await rm(join(folder, 'native/vec0.so'));
	await using server = await startServer({ program: unpackingInto(cache) });
	assert.equal((await server.call('GET', '/api/v1/assistants')).status, 200);
	assertSame(await unpackedIn(cache), files);
});

test('a server keeps running while another start repairs its folder', { skip }, async (t) => {
	const { cache, folder, files } = await unpacked(t);
	await using server = await startServer({ program: unpackingInto(cache) });
	for (const path of files.keys()) {
		// Removed and not overwritten: processes that have mapped the file must not see the change.
		await rm(join(folder, path));
	}
	const { code } = await runExecutable(['--version'], { PARLEY_CACHE_DIR: cache }, '/');
	assert.equal(code, 0);
	const { body } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'KB' });
	const text = { source_type: 'text', title: 'T', content: 'The kettle boils at 100 degrees.' };
	assert.equal((await server.call('POST', `/api/v1/knowledge-bases/${body.id}/documents`, text)).status, 201);
	await until('its workers have indexed it', async () => {
		const state = await server.call('GET', `/api/v1/knowledge-bases/${body.id}/status`);
		return state.body.documents_indexed === 1;
	});
});

/** A file system of its own for one test; null where this machine does not let us mount one. */
async function mounted(t: TestContext, options: string): Promise<string | null> {
	const place = await mkdtemp(join(tmpdir(), 'parley-mount-'));
	const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', place]);
	t.after(async () => {
		if (status === 0) spawnSync('umount', ['-l', place]);
		await rm(place, { recursive: true, force: true });
	});
	if (status !== 0) {
		t.skip('skipped: nothing can be mounted here; the messages themselves are tested without');
		return null;
	}
	return place;
}

test('a cache folder that is mounted noexec ends the start with a sentence about it', { skip }, async (t) => {
	const place = await mounted(t, 'noexec,size=64m');
	if (place === null) return;
	const { code, out, err } = await runExecutable(['--version'], { PARLEY_CACHE_DIR: place }, '/');
	assert.deepEqual([code, out], [1, '']);
	assert.match(err, /^parley: Parley cannot unpack itself\.\n/);
	assert.ok(
		err.includes(`  ${place}: programs cannot be run from there (it is mounted noexec).\nSet PARLEY_CACHE_DIR to`),
		err,
	);

	const folder = await emptyFolder(t);
	const elsewhere = await runExecutable(
		['--version'],
		{ XDG_CACHE_HOME: place, PARLEY_DATA_DIR: join(folder, 'data') },
		'/',
	);
	assert.equal(elsewhere.code, 0, elsewhere.err);
	assert.equal((await readdir(join(folder, 'data/cache'))).length, 1, 'where no folder is set, the next is tried');
});

test('a full cache folder ends the start with a sentence about it, and leaves nothing half written', {
	skip,
}, async (t) => {
	const place = await mounted(t, 'size=3m');
	if (place === null) return;
	const { code, err } = await runExecutable(['--version'], { PARLEY_CACHE_DIR: place }, '/');
	assert.equal(code, 1);
	assert.ok(err.includes(`  ${place}: the disk is full.\nSet PARLEY_CACHE_DIR to a folder`), err);
	const names = await readdir(place, { recursive: true });
	assert.ok(!names.some((name) => name.endsWith('.tmp')), names.join());
});
