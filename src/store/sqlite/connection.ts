import { join } from 'node:path';
import Database from 'better-sqlite3';
import * as sqliteVec from 'sqlite-vec';
import { separateCharacters } from '../../base/index.ts';

/** The database file in a data directory. */
export function databaseFile(dataDir: string): string {
	return join(dataDir, 'parley.db');
}

/** Older versions can reset the WAL while a reader still needs it, which damages the database. */
const MIN_SQLITE_VERSION = [3, 51, 3] as const;

/** How long a statement of a writing connection waits for another process that writes. */
export const WRITER_BUSY_MS = 5000;

/**
 * The only connection that writes. WAL with synchronous=FULL: a commit is on disk when COMMIT returns, and no reader sees
 * it earlier. Set on every open, because better-sqlite3 is built with NORMAL as WAL's default.
 */
export function openWritable(file: string): Database.Database {
	const db = new Database(file, { timeout: WRITER_BUSY_MS });
	requireSqliteVersion(db);
	db.pragma('journal_mode = WAL');
	db.pragma('synchronous = FULL');
	db.pragma('foreign_keys = OFF');
	// Erased data is overwritten, not only unlinked.
	db.pragma('secure_delete = ON');
	db.pragma('temp_store = MEMORY');
	db.pragma('cache_size = -8000');
	sqliteVec.load(db);
	db.function('separate_characters', { deterministic: true }, separateCharacters as (...values: unknown[]) => unknown);
	return db;
}

/** A connection that cannot write. @param cacheKib its page cache in KiB; a search reads many more pages than a request */
export function openReadOnly(file: string, cacheKib = 16_000): Database.Database {
	const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5000 });
	db.pragma(`cache_size = -${cacheKib}`);
	sqliteVec.load(db);
	return db;
}

function requireSqliteVersion(db: Database.Database): void {
	const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
	const parts = version.split('.').map(Number);
	for (const [index, least] of MIN_SQLITE_VERSION.entries()) {
		const part = parts[index] ?? 0;
		if (part > least) return;
		if (part < least)
			throw new Error(`SQLite ${version} is too old: at least ${MIN_SQLITE_VERSION.join('.')} is needed.`);
	}
}
