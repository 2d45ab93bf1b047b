import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
	chmod,
	chown,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rm,
	stat,
	symlink,
	utimes,
	writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { type EmbeddedAssets, folderName, UnusableFolderError, unpackToFirstUsable } from '../../src/binary/index.ts';

const FILES: Record<string, string> = {
	'main.js': 'what runs\n'.repeat(1000),
	'workers/parse.js': 'a worker',
	'native/better_sqlite3.node': 'machine code'.repeat(50_000),
	'static/docs/empty.css': '',
};
const asRoot = process.getuid?.() === 0;

/** A binary that carries these files and loads whatever it finds. */
function carrying(
	files: Record<string, string>,
	version = '1.2.3',
): EmbeddedAssets & { reads: string[]; loads: string[] } {
	const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
	const parts = Object.entries(files).map(([path, text]) => ({ path, bytes: text.length, sha256: sha256(text) }));
	const reads: string[] = [];
	const loads: string[] = [];
	return {
		contents: { version, digest: sha256(JSON.stringify(parts)), parts },
		reads,
		loads,
		read(path) {
			reads.push(path);
			return Buffer.from(files[path] as string);
		},
		loadNative: (path) => void loads.push(path),
	};
}

async function placeOf(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-unpack-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return join(folder, 'cache');
}

async function assertWhole(folder: string, files = FILES): Promise<void> {
	for (const [path, text] of Object.entries(files))
		assert.equal(await readFile(join(folder, path), 'utf8'), text, path);
	const names = await readdir(folder, { recursive: true });
	assert.deepEqual(
		names.filter((name) => name.endsWith('.tmp')),
		[],
	);
}

/** The sentence with which it gives up. */
function refusal(places: string[], binary: EmbeddedAssets): string {
	try {
		unpackToFirstUsable(places, binary);
	} catch (error) {
		assert.ok(error instanceof UnusableFolderError, String(error));
		return error.message;
	}
	return assert.fail('it was unpacked');
}

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test('the first start unpacks everything into a private folder of its version; the next start only reads', async (t) => {
	const place = await placeOf(t);
	const binary = carrying(FILES);
	const folder = unpackToFirstUsable([place], binary);
	assert.equal(dirname(folder), place);
	assert.match(folder, /\/parley-1\.2\.3-[0-9a-f]{16}$/);
	await assertWhole(folder);
	for (const path of [place, folder, join(folder, 'native')])
		assert.equal((await stat(path)).mode & 0o777, 0o700, path);
	assert.equal((await stat(join(folder, 'main.js'))).mode & 0o777, 0o600);
	assert.deepEqual(binary.loads, [join(folder, 'native/better_sqlite3.node')]);

	const again = carrying(FILES);
	assert.equal(unpackToFirstUsable([place], again), folder);
	assert.deepEqual(again.reads, []);
});

test('rewrites only files that are missing, truncated or changed', async (t) => {
	const place = await placeOf(t);
	const folder = unpackToFirstUsable([place], carrying(FILES));
	const native = join(folder, 'native/better_sqlite3.node');
	const before = await stat(native);
	const bytes = await readFile(native);
	bytes[bytes.length - 1] = 0;
	await writeFile(native, bytes);
	// Neither its size nor its times tell.
	await utimes(native, before.atime, before.mtime);
	await rm(join(folder, 'workers'), { recursive: true });
	await writeFile(join(folder, 'main.js'), 'what runs\n');

	const binary = carrying(FILES);
	unpackToFirstUsable([place], binary);
	assert.deepEqual(binary.reads.toSorted(), ['main.js', 'native/better_sqlite3.node', 'workers/parse.js']);
	await assertWhole(folder);
});

test('removes temporary files of a killed process when they are old enough', async (t) => {
	const place = await placeOf(t);
	const folder = unpackToFirstUsable([place], carrying(FILES));
	const old = join(folder, 'native/uws.node.0123456789abcdef.tmp');
	const young = join(folder, 'main.js.0123456789abcdef.tmp');
	for (const path of [old, young]) await writeFile(path, 'half');
	const before = new Date(Date.now() - 2 * 3_600_000);
	await utimes(old, before, before);
	unpackToFirstUsable([place], carrying(FILES));
	assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
});

test('a new version keeps folders that were used within two weeks, and everything that is not Parley’s', async (t) => {
	const place = await placeOf(t);
	const ancient = unpackToFirstUsable([place], carrying(FILES, '0.9.0'));
	const recent = unpackToFirstUsable([place], carrying(FILES, '1.0.0'));
	const foreign = join(place, 'photographs');
	await mkdir(foreign);
	const days = (count: number) => new Date(Date.now() - count * 86_400_000);
	for (const path of [ancient, foreign]) await utimes(path, days(15), days(15));
	await utimes(recent, days(13), days(13));
	const current = unpackToFirstUsable([place], carrying(FILES));
	const kept = await readdir(place);
	assert.deepEqual(kept.toSorted(), [recent, foreign, current].map((path) => path.slice(place.length + 1)).toSorted());
	await utimes(recent, days(15), days(15));
	unpackToFirstUsable([place], carrying(FILES));
	assert.ok(existsSync(recent), 'only a version that is new here looks around');
});

test('a noexec mount, a full disk and a read-only folder give a sentence that names the setting', async (t) => {
	const place = await placeOf(t);
	const said = (binary: Partial<EmbeddedAssets>) => refusal([place], { ...carrying(FILES), ...binary });
	const noexec = said({
		loadNative: () => {
			throw failure('ERR_DLOPEN_FAILED', '/x.node: failed to map segment from shared object');
		},
	});
	assert.match(noexec, /noexec\)\.\nSet PARLEY_CACHE_DIR to a folder .* with 1 MB of space/);
	assert.ok(noexec.includes(`  ${place}: `), noexec);
	await rm(place, { recursive: true });
	const full = said({
		read: () => {
			throw failure('ENOSPC', 'ENOSPC: no space left on device, write');
		},
	});
	assert.match(full, /: the disk is full\.\nSet PARLEY_CACHE_DIR/);
	await rm(place, { recursive: true });
	await writeFile(place, 'a file');
	assert.match(said({}), /: (a part of its path is not a folder|.*EEXIST.*)\.\nSet PARLEY_CACHE_DIR/);
});

test('a broken native module is not blamed on the folder', async (t) => {
	const place = await placeOf(t);
	const loadNative = () => {
		throw failure('ERR_DLOPEN_FAILED', "/x.node: version `GLIBC_2.38' not found");
	};
	assert.throws(() => unpackToFirstUsable([place], { ...carrying(FILES), loadNative }), /GLIBC_2\.38/);
});

test('uses the next folder when the first cannot be used', async (t) => {
	const place = await placeOf(t);
	await writeFile(place, 'a file');
	const second = `${place}-2`;
	assert.equal(dirname(unpackToFirstUsable([place, second], carrying(FILES))), second);
});

test('does not run from a folder that others may write to, or that is not a folder', async (t) => {
	const place = await placeOf(t);
	const binary = carrying(FILES);
	const folder = unpackToFirstUsable([place], binary);
	await chmod(folder, 0o770);
	assert.match(refusal([place], binary), /other users may write there/);
	await chmod(folder, 0o700);
	await chmod(place, 0o777);
	assert.match(refusal([place], binary), /all users may write in its parent folder/);
	await chmod(place, 0o1777);
	assert.equal(unpackToFirstUsable([place], binary), folder, 'as in /tmp, where nobody may rename what is not theirs');
	await chmod(place, 0o700);

	await rm(folder, { recursive: true });
	const elsewhere = join(dirname(place), 'elsewhere');
	await mkdir(elsewhere, { mode: 0o700 });
	await symlink(elsewhere, join(place, folderName(binary.contents)));
	assert.match(refusal([place], binary), /it is not a folder/);
});

test('does not run from a folder of another user', {
	skip: !asRoot && 'skipped: only root can give folders away',
}, async (t) => {
	const place = await placeOf(t);
	const binary = carrying(FILES);
	const folder = unpackToFirstUsable([place], binary);
	await chown(folder, 1234, 1234);
	assert.match(refusal([place], binary), /it belongs to another user/);
	await chown(folder, 0, 0);
	await chown(place, 1234, 1234);
	assert.match(refusal([place], binary), /its parent folder belongs to another user/);
});
