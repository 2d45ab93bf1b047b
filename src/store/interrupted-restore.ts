import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, fsyncFolder } from '../base/index.ts';

/** The folder in a data folder into which a restore unpacks. */
export const RESTORE_FOLDER = 'restore.incomplete';

/**
 * A server would make a new, empty database beside the files of an interrupted restore, and then remove these.
 * @param databaseFile the database, which a restore moves into its place at last
 * @throws AppError `unavailable` where a restore was interrupted
 */
export function requireCompleteRestore(dataDir: string, databaseFile: string): void {
	if (existsSync(databaseFile) || !existsSync(join(dataDir, RESTORE_FOLDER))) return;
	throw new AppError(
		'unavailable',
		`A restore into ${dataDir} was interrupted. Run "parley restore" again, or empty the folder.`,
	);
}

/**
 * Removes the folder of a restore that was killed after its last step. If it stayed and the database were lost later, the next restore would
 * take the blobs for files of an interrupted restore, and delete them. Only for the owner of the data folder, which has a database.
 */
export async function removeRestoreLeftovers(dataDir: string): Promise<void> {
	const folder = join(dataDir, RESTORE_FOLDER);
	if (!existsSync(folder)) return;
	// The database is in its place on disk, before the mark of the restore goes.
	await fsyncFolder(dataDir);
	await rm(folder, { recursive: true, force: true });
	await fsyncFolder(dataDir);
}
