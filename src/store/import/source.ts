import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { AppError } from '../../base/index.ts';
import { requireCompleteRestore } from '../interrupted-restore.ts';
import { countWords } from '../postgres/search/documents.ts';
import { databaseFile, openReadOnly } from '../sqlite/connection.ts';
import { FileBlobs } from '../sqlite/file-blobs.ts';
import { isLost } from '../sqlite/lost-database.ts';
import { MIGRATIONS } from '../sqlite/migrations.ts';
import { vectorTable } from '../sqlite/search-index-tables.ts';
import type { SnapshotBlob } from '../sqlite/snapshot.ts';
import { requireSoundLog } from '../sqlite/wal-repair.ts';
import { readFullTextTotals } from './full-text-totals.ts';
import type { ImportedTable } from './imported-tables.ts';
import { type Row, sizeOfRow, type Value } from './row.ts';

/** Rows and about the bytes of one portion, which is in memory as a whole. A single row may be larger. */
const PORTION_ROWS = 1_000;
const PORTION_BYTES = 4 * 1024 * 1024;

/** Rows in the order of their key. */
export interface Portion {
	rows: Row[];
	/** The key of the last row; null: there is no further row. */
	position: Value[] | null;
}

/** The embedded database of a stopped server. It is only read. */
export class ImportSource implements Disposable {
	readonly #db: Database;
	readonly #blobs: FileBlobs;

	/** @throws AppError `unavailable` for a database that this Parley cannot read as it is */
	constructor(dataDir: string) {
		requireCompleteRestore(dataDir, databaseFile(dataDir));
		requireSoundLog(dataDir);
		this.#db = openReadOnly(databaseFile(dataDir));
		this.#blobs = new FileBlobs(join(dataDir, 'blobs'));
		const schema = this.#db.pragma('user_version', { simple: true }) as number;
		if (schema === MIGRATIONS.length && !isLost(this.#db, dataDir)) return;
		this.#db.close();
		throw new AppError(
			'unavailable',
			`The database in ${dataDir} has schema version ${schema}, this command knows ${MIGRATIONS.length}. Start the server of this Parley on it once, and stop it.`,
		);
	}

	/** What changes whenever a server uses the database. */
	get identity(): string {
		const owner = this.#db.prepare("SELECT owner || ' ' || epoch FROM fences WHERE shard = 'main'").pluck().get();
		const first = this.#db.prepare('SELECT min(id) FROM workspaces').pluck().get();
		return `${first ?? ''} ${owner ?? ''}`;
	}

	/** The columns of a table as the embedded database has them, without those that are computed. */
	columnsOf(table: ImportedTable): string[] {
		const columns = this.#db.pragma(`table_info(${table.name})`) as { name: string }[];
		return columns.map(({ name }) => name);
	}

	/** The rows after a position. @param columns of the table in PostgreSQL */
	portion(table: ImportedTable, columns: readonly string[], after: readonly Value[] | null): Portion {
		const rows: Row[] = [];
		let bytes = 0;
		for (const row of this.#rows(table, columns, after)) {
			rows.push(row);
			bytes += sizeOfRow(row);
			if (rows.length === PORTION_ROWS || bytes >= PORTION_BYTES) break;
		}
		const last = rows.at(-1);
		return { rows, position: last === undefined ? null : table.key.map((column) => last[column] as Value) };
	}

	/** The files that documents name, by their hashes. */
	files(after: string, limit: number): SnapshotBlob[] {
		return this.#db
			.prepare<[string, number], SnapshotBlob>(
				`SELECT blob AS hash, max(size_bytes) AS bytes, min(id) AS document FROM documents
				 WHERE blob > ? GROUP BY blob ORDER BY blob LIMIT ?`,
			)
			.all(after, limit);
	}

	filePath(hash: string): string {
		return this.#blobs.path(hash);
	}

	/** Files that documents name and that are not there. */
	missingFiles(): SnapshotBlob[] {
		const named = this.#db.prepare<[], SnapshotBlob>(
			'SELECT blob AS hash, size_bytes AS bytes, id AS document FROM documents WHERE blob IS NOT NULL',
		);
		const missing: SnapshotBlob[] = [];
		for (const blob of named.iterate()) if (!existsSync(this.filePath(blob.hash))) missing.push(blob);
		return missing;
	}

	/** The messages that the search of the inbox finds, after an id. */
	searchableMessages(after: string, limit: number): string[] {
		return this.#db
			.prepare<[string, number], string>(
				`SELECT id FROM messages WHERE id > ? AND status IN ('completed', 'stopped') AND content <> ''
				 ORDER BY id LIMIT ?`,
			)
			.pluck()
			.all(after, limit);
	}

	/** The number that the last chunk has had, also if it is removed. */
	lastChunk(): number {
		const last = this.#db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").pluck().get();
		return (last as number | undefined) ?? 0;
	}

	[Symbol.dispose](): void {
		this.#db.close();
	}

	*#rows(table: ImportedTable, columns: readonly string[], after: readonly Value[] | null): Generator<Row> {
		const rows = table.isOfBases === true ? this.#vectors(after) : this.#tableRows(table, columns, after);
		for (const row of rows) {
			if (table.computed !== undefined) this.#compute(row, table.computed);
			yield row;
		}
	}

	#tableRows(table: ImportedTable, columns: readonly string[], after: readonly Value[] | null): Iterable<Row> {
		const { name, key, from = `${name} AS t`, columns: others = {}, computed = [] } = table;
		const stored = columns.filter((column) => !(computed as readonly string[]).includes(column));
		const selected = stored.map((column) => `${others[column] ?? `t.${column}`} AS ${column}`);
		const keys = key.map((column) => `t.${column}`).join(', ');
		const condition = after === null ? '' : `WHERE (${keys}) > (${key.map(() => '?')})`;
		const sql = `SELECT ${selected} FROM ${from} ${condition} ORDER BY ${keys} LIMIT ${PORTION_ROWS}`;
		return this.#db.prepare(sql).iterate(...(after ?? [])) as Iterable<Row>;
	}

	/** Each vector is read by its number: a condition on the table of vectors would read all of it for each portion. */
	*#vectors(after: readonly Value[] | null): Generator<Row> {
		const [basis = '', chunk = 0] = after ?? [];
		const bases = this.#db
			.prepare<[Value], { id: string; changes: number }>(
				`SELECT b.id, coalesce(g.changes, 0) AS changes FROM bases b LEFT JOIN generations g ON g.id = b.generation
				 WHERE b.id >= ? ORDER BY b.id`,
			)
			.all(basis);
		for (const { id, changes } of bases) {
			const table = vectorTable(id);
			const chunks = this.#db
				.prepare<[Value], number>(
					`SELECT rowid FROM ${table}_rowids WHERE rowid > ? ORDER BY rowid LIMIT ${PORTION_ROWS}`,
				)
				.pluck()
				.all(id === basis ? chunk : 0);
			const embedding = this.#db.prepare<[bigint], Buffer>(`SELECT embedding FROM ${table} WHERE rowid = ?`).pluck();
			for (const number of chunks) {
				yield { basis: id, chunk: number, change: changes, embedding: embedding.get(BigInt(number)) ?? null };
			}
			// The rest of a large basis is in the next portion.
			if (chunks.length === PORTION_ROWS) return;
		}
	}

	#compute(row: Row, columns: NonNullable<ImportedTable['computed']>): void {
		if (columns.includes('term_count')) {
			// A term of a title counts twice, as it does in the vectors.
			row.term_count = 2 * countWords(String(row.title_terms)) + countWords(String(row.body_terms));
		}
		if (columns.includes('added_chunks')) {
			const totals = readFullTextTotals(this.#db, String(row.id));
			row.added_chunks = totals.chunks;
			row.added_terms = totals.terms;
		}
	}
}
