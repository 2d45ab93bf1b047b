import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncFolder } from '../base/index.ts';

/** A backup in a folder of backups. */
export interface BackupFile {
	name: string;
	/** See `backupSeries` of the store. */
	series: string;
	/** When it was made (ms since the epoch), by its name. */
	madeAt: number;
}

const NAME = /^parley-([0-9a-f]{8})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z\.tar$/;

/** The name of a backup in a folder of backups: `parley-1f9e02c4-20260731T142530.123Z.tar`. */
export function backupFileName(series: string, madeAt: number): string {
	return `parley-${series}-${new Date(madeAt).toISOString().replace(/[-:]/g, '')}.tar`;
}

/** Whether a file of a folder of backups is, by its name, one of a series. */
export const isBackupOf = (series: string, name: string): boolean => readName(name)?.series === series;

/** The backups of a series in a folder, the newest first; none where there is no folder. Other files are left out. */
export async function listBackups(folder: string, series: string): Promise<BackupFile[]> {
	const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return [];
		throw error;
	});
	return names
		.map(readName)
		.filter((backup): backup is BackupFile => backup?.series === series)
		.sort((a, b) => b.madeAt - a.madeAt);
}

/**
 * Deletes all backups of a series but the newest ones. Returns the names of those that it deleted.
 * @param newest the name of the backup that was made last. Backups with a later time were made by a clock that was ahead: they go first.
 */
export async function removeOldBackups(folder: string, keep: number, newest: string): Promise<string[]> {
	const made = readName(newest);
	if (made === null) throw new Error(`${newest} is not the name of a backup.`);
	const all = await listBackups(folder, made.series);
	const isAhead = (backup: BackupFile) => backup.madeAt > made.madeAt;
	const byAge = [...all.filter((backup) => !isAhead(backup)), ...all.filter(isAhead)];
	const old = byAge.slice(keep).map(({ name }) => name);
	for (const name of old) await rm(join(folder, name), { force: true });
	if (old.length > 0) await fsyncFolder(folder);
	return old;
}

function readName(name: string): BackupFile | null {
	const [, series, year, month, day, hour, minute, second, ms] = NAME.exec(name) ?? [];
	if (series === undefined) return null;
	const madeAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
	return Number.isNaN(madeAt) ? null : { name, series, madeAt };
}
