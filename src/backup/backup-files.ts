import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncFolder } from '../base/index.ts';

/** A backup in a folder of backups. */
export interface BackupFile {
	name: string;
	/** When it was made (ms since the epoch), by its name. */
	madeAt: number;
}

const NAME = /^parley-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z\.tar$/;

/** The name of a backup in a folder of backups: `parley-20260731T142530.123Z.tar`. */
export function backupFileName(madeAt: number): string {
	return `parley-${new Date(madeAt).toISOString().replace(/[-:]/g, '')}.tar`;
}

/** The backups in a folder, the newest first; none where there is no folder. Other files are left out. */
export async function listBackups(folder: string): Promise<BackupFile[]> {
	const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return [];
		throw error;
	});
	return names
		.flatMap((name) => {
			const madeAt = timeOf(name);
			return madeAt === null ? [] : [{ name, madeAt }];
		})
		.sort((a, b) => b.madeAt - a.madeAt);
}

/**
 * Deletes all backups but the newest ones. Returns the names of those that it deleted.
 * @param newest the name of the backup that was made last. Backups with a later time were made by a clock that was ahead: they go first.
 */
export async function removeOldBackups(folder: string, keep: number, newest: string): Promise<string[]> {
	const all = await listBackups(folder);
	const madeAt = timeOf(newest) ?? Number.POSITIVE_INFINITY;
	const isAhead = (backup: BackupFile) => backup.madeAt > madeAt;
	const byAge = [...all.filter((backup) => !isAhead(backup)), ...all.filter(isAhead)];
	const old = byAge.slice(keep).map(({ name }) => name);
	for (const name of old) await rm(join(folder, name), { force: true });
	if (old.length > 0) await fsyncFolder(folder);
	return old;
}

function timeOf(name: string): number | null {
	const [, year, month, day, hour, minute, second, ms] = NAME.exec(name) ?? [];
	if (year === undefined) return null;
	const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
	return Number.isNaN(time) ? null : time;
}
