import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DATA_SETS = fileURLToPath(new URL('../../.build/bench/data/', import.meta.url));
/** What all data folders of the server depend on. */
const SCHEMA = new URL('../../src/store/sqlite/migrations.ts', import.meta.url);

/**
 * A folder that takes long to make: made once, and again only when the database's schema or one of the sources has changed.
 * @param sources what it depends on besides: files that make it
 * @param make fills an empty folder
 * @returns the folder, to be copied before it is written to
 */
export async function dataSet(name: string, sources: readonly URL[], make: (folder: string) => Promise<void>) {
	const hash = createHash('sha256');
	for (const source of [SCHEMA, ...sources]) hash.update(readFileSync(source));
	const folder = join(DATA_SETS, `${name}-${hash.digest('hex').slice(0, 12)}`);
	if (existsSync(folder)) return folder;
	// Under another name until it is whole: an interrupted making leaves nothing that would be taken for it.
	const partial = `${folder}.${process.pid}.partial`;
	await mkdir(partial, { recursive: true });
	try {
		await make(partial);
		await rename(partial, folder);
	} finally {
		await rm(partial, { recursive: true, force: true });
	}
	return folder;
}

/** A copy of a folder that goes when it is disposed of. */
export async function copyOf(folder: string): Promise<AsyncDisposable & { folder: string }> {
	const copy = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	await cp(folder, copy, { recursive: true });
	return { folder: copy, [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }) };
}
