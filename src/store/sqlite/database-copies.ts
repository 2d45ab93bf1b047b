import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Copies from before an upgrade, and of damaged logs. */
const NAME = /^parley-schema-\d+\.db$|^parley\.db-wal\.damaged-/;

/** Deletes the copies that were made before a time (ms since the epoch). Returns their names. */
export async function removeDatabaseCopies(dataDir: string, before: number): Promise<string[]> {
	const removed: string[] = [];
	for (const name of await readdir(dataDir)) {
		const path = join(dataDir, name);
		if (!NAME.test(name) || (await stat(path)).mtimeMs >= before) continue;
		await rm(path, { force: true });
		removed.push(name);
	}
	return removed;
}

/** When the newest copy was made (ms since the epoch); null where there is none. */
export async function newestDatabaseCopy(dataDir: string): Promise<number | null> {
	const names = (await readdir(dataDir)).filter((name) => NAME.test(name));
	const times = await Promise.all(names.map(async (name) => Math.ceil((await stat(join(dataDir, name))).mtimeMs)));
	return times.length === 0 ? null : Math.max(...times);
}
