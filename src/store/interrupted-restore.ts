import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/index.ts';

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
