import type { Database } from 'better-sqlite3';
import type { Generation } from '../../search-index.ts';
import { openReadOnly } from '../connection.ts';
import { generationOf } from '../generation.ts';
import { fullTextTable, termsTable, vectorTable } from '../search-index-tables.ts';
import { statement, statementsOf } from '../statements.ts';
import { readAllVectors, type StoredVectors } from './stored-vectors.ts';

/** A chunk's row id and its score; larger is better. */
interface RankedChunk {
	id: number;
	score: number;
}

/** A chunk as a hit shows it. */
interface FoundChunk {
	document_id: string;
	position: number;
	title: string;
	url: string | null;
	text: string;
	heading_path: string[];
	page: number | null;
}

/** The analysed terms of a stored chunk. */
interface TermRow {
	id: number;
	title_terms: string;
	body_terms: string;
}

/** Reads the index for searching and training, on its own read-only connection. */
export class SearchReader implements Disposable {
	readonly #db: Database;

	/** @param database the database file */
	constructor(database: string) {
		this.#db = openReadOnly(database);
	}

	/** Runs several reads on one snapshot of the database. */
	snapshot<T>(read: () => T): T {
		return this.#db.transaction(read)();
	}

	generation(id: string): Generation | undefined {
		return generationOf(statementsOf(this.#db), id);
	}

	/** A number that changes with each change of a generation's chunks and vectors. */
	changeCount(generation: string): number {
		const sql = 'SELECT changes FROM generations WHERE id = ?';
		return (statement(this.#db, sql).pluck().get(generation) as number | undefined) ?? 0;
	}

	/** The languages of a generation's documents, the most frequent first; null stands for an unknown one. */
	languages(generation: string): Array<string | null> {
		return statement(
			this.#db,
			`SELECT nullif(language, '') FROM generation_languages WHERE generation = ? AND documents > 0
			 ORDER BY documents DESC, language`,
		)
			.pluck()
			.all(generation) as Array<string | null>;
	}

	/** How many chunks have a term. */
	documentFrequency(generation: string, term: string): number {
		const count = statement(this.#db, `SELECT doc FROM ${termsTable(generation)} WHERE term = ?`)
			.pluck()
			.get(term);
		return (count as number | undefined) ?? 0;
	}

	/** The chunks that have any of the terms, best first, by BM25. A repeated term counts again. */
	searchKeywords(generation: string, terms: readonly string[], limit: number): RankedChunk[] {
		if (terms.length === 0) return [];
		const table = fullTextTable(generation);
		const matchExpression = terms.map((term) => `"${term.replaceAll('"', '')}"`).join(' OR ');
		// FTS5's rank is negative, and smaller for better matches.
		const sql = `SELECT rowid AS id, -rank AS score FROM ${table} WHERE ${table} MATCH ? ORDER BY rank LIMIT ?`;
		return statement(this.#db, sql).all(matchExpression, limit) as RankedChunk[];
	}

	/** The chunks with the nearest vectors, best first; the score is the cosine. */
	searchNearest(basis: string, vector: Int8Array, limit: number): RankedChunk[] {
		const sql = `SELECT rowid AS id, 1 - distance AS score FROM ${vectorTable(basis)}
			WHERE embedding MATCH vec_int8(?) AND k = ? ORDER BY distance`;
		return statement(this.#db, sql).all(vector, limit) as RankedChunk[];
	}

	/** All vectors of a basis, in the order of its table. */
	allVectors(basis: string, dimensions: number): StoredVectors {
		return readAllVectors(this.#db, basis, dimensions);
	}

	/** The vector of a chunk; undefined when it has none under this basis. */
	vector(basis: string, chunk: number): Int8Array | undefined {
		const sql = `SELECT embedding FROM ${vectorTable(basis)} WHERE rowid = ?`;
		const bytes = statement(this.#db, sql).pluck().get(BigInt(chunk)) as Buffer | undefined;
		return bytes && new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	}

	/** The terms of one chunk. */
	termsOf(chunk: number): TermRow | undefined {
		const sql = 'SELECT id, title_terms, body_terms FROM chunks WHERE id = ?';
		return statement(this.#db, sql).get(chunk) as TermRow | undefined;
	}

	/** The terms of all chunks of a generation, except those of the named document. */
	allTerms(generation: string, except = ''): TermRow[] {
		return statement(
			this.#db,
			`SELECT c.id, c.title_terms, c.body_terms FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 WHERE d.generation = ? AND d.document_id <> ? ORDER BY c.id`,
		).all(generation, except) as TermRow[];
	}

	chunk(id: number): FoundChunk | undefined {
		const row = statement(
			this.#db,
			`SELECT d.document_id, c.position, d.title, d.url, c.text, c.heading_path, c.page
			 FROM chunks c JOIN indexed_documents d ON d.seq = c.document WHERE c.id = ?`,
		).get(id) as (FoundChunk & { heading_path: string }) | undefined;
		return row && { ...row, heading_path: JSON.parse(row.heading_path) as string[] };
	}

	/** The texts of the chunks just before and after a chunk, if they are of the same section. */
	neighbours(id: number): { previous?: string; next?: string } {
		const rows = statement(
			this.#db,
			`SELECT other.text, other.position > c.position AS is_next
			 FROM chunks c JOIN chunks other ON other.document = c.document
				AND other.position IN (c.position - 1, c.position + 1) AND other.heading_path = c.heading_path
			 WHERE c.id = ?`,
		).all(id) as Array<{ text: string; is_next: number }>;
		const textOf = (isNext: number) => rows.find(({ is_next }) => is_next === isNext)?.text;
		const [previous, next] = [textOf(0), textOf(1)];
		return { ...(previous === undefined ? {} : { previous }), ...(next === undefined ? {} : { next }) };
	}

	/** The dimensions and floor of a basis; undefined when it has been dropped. */
	vectorInfo(basis: string): { dimensions: number; floor: number } | undefined {
		const sql = 'SELECT dimensions, floor FROM bases WHERE id = ?';
		return statement(this.#db, sql).get(basis) as { dimensions: number; floor: number } | undefined;
	}

	/** The serialised basis, empty when it was not trained here; undefined when it has been dropped. */
	model(basis: string): Uint8Array | undefined {
		return statement(this.#db, 'SELECT model FROM bases WHERE id = ?').pluck().get(basis) as Uint8Array | undefined;
	}

	[Symbol.dispose](): void {
		this.#db.close();
	}
}
