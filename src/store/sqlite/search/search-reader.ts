import type { Database } from 'better-sqlite3';
import { KeyedLock } from '../../../base/index.ts';
import { VectorIndexCache } from '../../../retrieval/index.ts';
import type { FoundChunk, NeighbouringTexts, SearchReader, SearchSnapshot } from '../../search/search-reader.ts';
import type { StoredTerms } from '../../search-index.ts';
import { openReadOnly } from '../connection.ts';
import { generationOf } from '../generation.ts';
import { statement, statementsOf } from '../statements.ts';
import { SqliteSearchedGeneration } from './searched-generation.ts';

/** Reads the index for searching and training, on its own read-only connection. */
export class SqliteSearchReader implements SearchReader {
	readonly #db: Database;
	readonly #snapshot: SearchSnapshot;
	readonly #turns = new KeyedLock();

	/** @param database the database file */
	constructor(database: string) {
		this.#db = openReadOnly(database);
		this.#snapshot = new SqliteSearchSnapshot(this.#db);
	}

	snapshot<T>(read: (index: SearchSnapshot) => Promise<T>): Promise<T> {
		return this.#turns.run('snapshot', async () => {
			this.#db.exec('BEGIN');
			try {
				return await read(this.#snapshot);
			} finally {
				this.#db.exec('COMMIT');
			}
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#db.close();
	}
}

class SqliteSearchSnapshot implements SearchSnapshot {
	readonly #db: Database;
	readonly #vectorIndexes = new VectorIndexCache();

	constructor(db: Database) {
		this.#db = db;
	}

	async generation(id: string): Promise<SqliteSearchedGeneration | undefined> {
		const generation = generationOf(statementsOf(this.#db), id);
		return generation && new SqliteSearchedGeneration(this.#db, this.#vectorIndexes, generation);
	}

	async chunks(ids: readonly number[]): Promise<Map<number, FoundChunk>> {
		const find = statement(
			this.#db,
			`SELECT d.document_id, c.position, d.title, d.url, c.text, c.heading_path, c.page
			 FROM chunks c JOIN indexed_documents d ON d.seq = c.document WHERE c.id = ?`,
		);
		const found = new Map<number, FoundChunk>();
		for (const id of ids) {
			const row = find.get(id) as (FoundChunk & { heading_path: string }) | undefined;
			if (row) found.set(id, { ...row, heading_path: JSON.parse(row.heading_path) as string[] });
		}
		return found;
	}

	async neighbours(ids: readonly number[]): Promise<Map<number, NeighbouringTexts>> {
		const find = statement(
			this.#db,
			`SELECT other.text, other.position > c.position AS is_next
			 FROM chunks c JOIN chunks other ON other.document = c.document
				AND other.position IN (c.position - 1, c.position + 1) AND other.heading_path = c.heading_path
			 WHERE c.id = ?`,
		);
		const found = new Map<number, NeighbouringTexts>();
		for (const id of ids) {
			const texts: NeighbouringTexts = {};
			for (const { text, is_next } of find.all(id) as Array<{ text: string; is_next: number }>) {
				texts[is_next ? 'next' : 'previous'] = text;
			}
			found.set(id, texts);
		}
		return found;
	}

	async model(basis: string): Promise<Uint8Array | undefined> {
		return statement(this.#db, 'SELECT model FROM bases WHERE id = ?').pluck().get(basis) as Uint8Array | undefined;
	}

	async allTerms(generation: string, except = ''): Promise<StoredTerms[]> {
		return statement(
			this.#db,
			`SELECT c.id, c.title_terms, c.body_terms FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 WHERE d.generation = ? AND d.document_id <> ? ORDER BY c.id`,
		).all(generation, except) as StoredTerms[];
	}
}
