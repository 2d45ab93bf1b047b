import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { AppError } from '../../base/index.ts';

/** What is wrong where a server has run in a data folder, and its database has nothing. */
export const LOST = 'it is empty, although a server has run there';

/**
 * Whether the content of a database was lost, with its file or its log. A server makes the folder of uploads only when the database has its
 * tables on disk.
 * @param db null where there is no file
 */
export function isLost(db: Database | null, dataDir: string): boolean {
	const schema = db?.pragma('user_version', { simple: true }) ?? 0;
	return schema === 0 && existsSync(join(dataDir, 'blobs', 'incoming'));
}

/**
 * A start would make a new, empty database beside the files of the lost one.
 * @throws AppError `unavailable`
 */
export function requireContent(db: Database | null, dataDir: string): void {
	if (!isLost(db, dataDir)) return;
	throw new AppError(
		'unavailable',
		`The database in ${dataDir} is damaged: ${LOST}. Bring back parley.db and parley.db-wal, or restore a backup. For a new start, empty the folder.`,
	);
}
