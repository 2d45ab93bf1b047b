import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { fsyncFolder, requireFreeSpace } from '../../base/index.ts';
import { MIGRATIONS } from './migrations.ts';
import { copyDatabase } from './snapshot.ts';

/** The copy of the database before it was migrated from a schema version. */
export function upgradeCopyFile(dataDir: string, schema: number): string {
	return join(dataDir, `parley-schema-${schema}.db`);
}

/**
 * Copies the database before the steps that the current schema has and it lacks, so that the former Parley can be used again. Blobs are not
 * changed by an upgrade. Only for the owner of the data folder, before it migrates. A new database (schema 0) and a current one are not copied.
 * @throws AppError `unavailable` when the copy and the migration might not fit on the disk
 */
export async function copyBeforeMigration(db: Database, dataDir: string): Promise<void> {
	const schema = db.pragma('user_version', { simple: true }) as number;
	if (schema === 0 || schema >= MIGRATIONS.length) return;
	const file = upgradeCopyFile(dataDir, schema);
	const partial = `${file}.partial`;
	await rm(partial, { force: true });
	try {
		// A migration may write each page to the WAL once.
		await copyDatabase(dataDir, partial, new AbortController().signal, (bytes) =>
			requireFreeSpace(
				dataDir,
				2 * bytes,
				(needed, free) =>
					`The database in ${dataDir} cannot be brought to the schema of this Parley: this needs ${needed}, and ${free} are free. Make room, or start the former Parley.`,
			),
		);
		await rename(partial, file);
		await fsyncFolder(dataDir);
	} finally {
		await rm(partial, { force: true });
	}
}
