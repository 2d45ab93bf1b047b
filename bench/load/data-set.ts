import { createHash } from 'node:crypto';
import { constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DATA_SETS = fileURLToPath(new URL('../../.build/bench/data/', import.meta.url));
/** Sources that all data folders depend on. */
const STORE_SOURCES = new URL('../../src/store/', import.meta.url);

/**
 * A cached folder that takes long to create. It is created again when the storage code or one of the sources has changed.
 * @param name one name for each content: outdated folders of this name are removed
 * @param sources further dependencies: files, and folders with all their files
 * @param make fills an empty folder
 * @returns the folder, which must be copied before it is changed
 */
export async function dataSet(name: string, sources: readonly URL[], make: (folder: string) => Promise<void>) {
	const hash = createHash('sha256');
	for (const source of [STORE_SOURCES, ...sources])
		for (const file of filesOf(fileURLToPath(source))) hash.update(readFileSync(file));
	const folder = join(DATA_SETS, `${name}-${hash.digest('hex').slice(0, 12)}`);
	if (existsSync(folder)) return folder;
	await mkdir(DATA_SETS, { recursive: true });
	await removeOlder(name);
	console.log(`Making the data set ${name}, once …`);
	const started = performance.now();
	// Has another name until it is complete, so that an interrupted run leaves nothing that looks complete.
	const partial = await mkdtemp(join(DATA_SETS, 'partial-'));
	try {
		await make(partial);
		await rename(partial, folder);
	} finally {
		await rm(partial, { recursive: true, force: true });
	}
	console.log(`Made in ${Math.round((performance.now() - started) / 1000)} s.`);
	return folder;
}

/** A copy of a folder, removed on disposal. */
export async function copyOf(folder: string): Promise<AsyncDisposable & { folder: string }> {
	const copy = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	await cp(folder, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
	return { folder: copy, [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }) };
}

async function removeOlder(name: string): Promise<void> {
	const older = new RegExp(`^${name}-[0-9a-f]{12}$`);
	for (const entry of await readdir(DATA_SETS)) {
		if (older.test(entry)) await rm(join(DATA_SETS, entry), { recursive: true, force: true });
	}
}

function filesOf(path: string): string[] {
	if (!statSync(path).isDirectory()) return [path];
	return readdirSync(path, { recursive: true, encoding: 'utf8' })
		.sort()
		.map((name) => join(path, name))
		.filter((file) => statSync(file).isFile());
}
