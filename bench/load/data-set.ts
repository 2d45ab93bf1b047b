import { createHash } from 'node:crypto';
import { constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DATA_SETS = fileURLToPath(new URL('../../.build/bench/data/', import.meta.url));
/** What all data folders of the server depend on. */
const STORE_SOURCES = new URL('../../src/store/', import.meta.url);

/**
 * A folder that takes long to make: made once, and again only when how data are stored, or one of the sources, has changed.
 * @param name one name for each content: what else goes by it is out of date and removed
 * @param sources what it depends on besides: files, and folders with all that is in them
 * @param make fills an empty folder
 * @returns the folder, to be copied before it is written to
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
	// Under another name until it is whole: an interrupted making leaves nothing that would be taken for it.
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

/** A copy of a folder that goes when it is disposed of. */
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
