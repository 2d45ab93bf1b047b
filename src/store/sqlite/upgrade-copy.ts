import { readdir, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { fsyncFolder, requireFreeSpace } from '../../base/index.ts';
import { MIGRATIONS } from './migrations.ts';
import { copyDatabase } from './snapshot.ts';

/** The copy of the database before it was migrated from a schema version, once the migration is complete. */
const copyFile = (schema: number) => `parley-schema-${schema}.db`;
/** The name of a complete copy until all steps of the migration are done. It is the mark of an unfinished upgrade. */
const unfinishedFile = (schema: number) => `${copyFile(schema)}.unfinished`;
const UNFINISHED = /^parley-schema-(\d+)\.db\.unfinished$/;
/** A copy that is being made, and the files that SQLite makes beside it. */
const PARTIAL = /^parley-schema-\d+\.db\.partial(-journal|-wal|-shm)?$/;

/**
 * Copies the database before the steps that the current schema has and it lacks, so that the former Parley can be used again. Blobs are not
 * changed by an upgrade. Only for the owner of the data folder, before it migrates. A new database (schema 0) and a current one are not copied,
 * and neither is a database that an interrupted upgrade has migrated in part: the copy of its first schema is there.
 * @throws AppError `unavailable` when the copy and the migration might not fit on the disk
 */
export async function copyBeforeMigration(db: Database, dataDir: string): Promise<void> {
	await removePartialCopies(dataDir);
	const schema = db.pragma('user_version', { simple: true }) as number;
	if (schema === 0 || schema >= MIGRATIONS.length) return;
	if ((await unfinishedUpgrades(dataDir)).some((from) => from < schema)) return;
	// A copy of the same schema is older than the database: the former Parley may have run since. Its space is needed.
	await rm(join(dataDir, unfinishedFile(schema)), { force: true });
	const partial = join(dataDir, `${copyFile(schema)}.partial`);
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
		await rename(partial, join(dataDir, unfinishedFile(schema)));
		await fsyncFolder(dataDir);
	} finally {
		await rm(partial, { force: true });
	}
}

/**
 * Gives the copy its final name, after the migration. A start that finds a current schema repeats it. The days for which the copy is kept
 * begin now.
 */
export async function finishUpgrade(dataDir: string): Promise<void> {
	const schemas = await unfinishedUpgrades(dataDir);
	if (schemas.length === 0) return;
	const now = new Date();
	for (const schema of schemas) {
		const file = join(dataDir, unfinishedFile(schema));
		await utimes(file, now, now);
		await rename(file, join(dataDir, copyFile(schema)));
	}
	await fsyncFolder(dataDir);
}

/** The schema versions from which upgrades began that are not finished. */
async function unfinishedUpgrades(dataDir: string): Promise<number[]> {
	return (await readdir(dataDir)).flatMap((name) => UNFINISHED.exec(name)?.[1] ?? []).map(Number);
}

/** Removes what a killed start has left: it has the data of people. */
async function removePartialCopies(dataDir: string): Promise<void> {
	for (const name of await readdir(dataDir)) if (PARTIAL.test(name)) await rm(join(dataDir, name), { force: true });
}
