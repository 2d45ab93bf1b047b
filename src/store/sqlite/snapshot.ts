import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { AppError } from '../../base/index.ts';
import { databaseFile, openReadOnly } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';

/** A blob that a database names. */
export interface SnapshotBlob {
	/** Its SHA-256, hexadecimal. */
	hash: string;
	bytes: number;
	/** A document that has it. */
	document: string;
}

/** The schema version that this Parley writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;
/** Pages that one step copies: a stop waits for one step. */
const PAGES_PER_STEP = 1_000;
/** What a backup says about its content, by table. */
const COUNTED_TABLES = ['workspaces', 'users', 'assistants', 'documents', 'conversations', 'messages'];

/**
 * Copies the database of a data directory to a new file, with or without a running server. The copy is the state after one commit,
 * with all commits before it. A read transaction lasts as long as the copy: otherwise each commit would start the copy again.
 * @param onSize is called with the size of the copy in bytes before it begins, and may refuse it
 * @throws AppError `unavailable` when a newer Parley wrote it; the signal's reason
 */
export async function copyDatabase(
	dataDir: string,
	target: string,
	signal: AbortSignal,
	onSize: (bytes: number) => Promise<void> = async () => {},
): Promise<void> {
	const db = openReadOnly(databaseFile(dataDir));
	try {
		db.exec('BEGIN');
		requireKnownSchema(schemaOf(db), `The database in ${dataDir}`);
		await onSize(numberOf(db, 'page_count') * numberOf(db, 'page_size'));
		await db.backup(target, {
			progress() {
				signal.throwIfAborted();
				return PAGES_PER_STEP;
			},
		});
	} finally {
		db.close();
	}
}

/** @throws AppError `unavailable` for a schema that only a newer Parley knows */
export function requireKnownSchema(schema: number, subject: string): void {
	if (schema <= SCHEMA_VERSION) return;
	throw new AppError(
		'unavailable',
		`${subject} has schema version ${schema}, this Parley knows ${SCHEMA_VERSION}. Use the newer Parley that wrote it.`,
	);
}

/**
 * The name of the series of backups of a server: eight hexadecimal digits that belong to its first workspace. Servers that share a folder
 * of backups delete only those of their own series. A restored server continues the series.
 */
export function backupSeries(dataDir: string): string {
	const db = openReadOnly(databaseFile(dataDir));
	try {
		const first = db.prepare('SELECT min(id) FROM workspaces').pluck().get() as string | null;
		return createHash('sha256')
			.update(first ?? '')
			.digest('hex')
			.slice(0, 8);
	} finally {
		db.close();
	}
}

/** A copy of a database that no server uses. */
export class DatabaseSnapshot implements Disposable {
	readonly #db: Database;

	constructor(file: string) {
		this.#db = openReadOnly(file);
	}

	get schema(): number {
		return schemaOf(this.#db);
	}

	/** Damage as SQLite describes it, at most twenty lines; empty for a database that is whole. It reads all of it. */
	problems(): string[] {
		const found = this.#db.prepare('PRAGMA integrity_check(20)').pluck().all() as string[];
		return found.filter((line) => line !== 'ok');
	}

	/** The number of rows of the tables that say how much there is; a table that its schema lacks is left out. */
	counts(): Record<string, number> {
		const exists = this.#db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
		const present = COUNTED_TABLES.filter((table) => exists.get(table) !== undefined);
		return Object.fromEntries(
			present.map((table) => [table, this.#db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number]),
		);
	}

	/** The blobs that documents name, each once, in ascending order of their hashes. */
	blobs(): IterableIterator<SnapshotBlob> {
		return this.#db
			.prepare<[], SnapshotBlob>(
				`SELECT blob AS hash, max(size_bytes) AS bytes, min(id) AS document FROM documents
				 WHERE blob IS NOT NULL GROUP BY blob ORDER BY blob`,
			)
			.iterate();
	}

	/** The number of these blobs, and of their bytes. */
	blobTotals(): { count: number; bytes: number } {
		let [count, bytes] = [0, 0];
		for (const blob of this.blobs()) {
			count++;
			bytes += blob.bytes;
		}
		return { count, bytes };
	}

	[Symbol.dispose](): void {
		this.#db.close();
	}
}

function schemaOf(db: Database): number {
	return numberOf(db, 'user_version');
}

function numberOf(db: Database, pragma: string): number {
	return db.pragma(pragma, { simple: true }) as number;
}
