import type { Database } from 'better-sqlite3';
import { countTerms, type VectorIndexCache } from '../../../retrieval/index.ts';
import type { RankedChunk, SearchedGeneration, TermSet } from '../../search/search-reader.ts';
import type { Generation, StoredTerms } from '../../search-index.ts';
import { fullTextTable, termsTable, vectorTable } from '../search-index-tables.ts';
import { statement } from '../statements.ts';
import { readAllVectors } from './stored-vectors.ts';

/** What ranking reads of a generation: FTS5 and sqlite-vec rank, except that vectors of a large generation are kept in memory. */
export class SqliteSearchedGeneration implements SearchedGeneration {
	readonly id: string;
	readonly knowledge_base_id: string;
	readonly embedder: string;
	readonly basis: string | null;
	readonly dimensions: number | null;
	readonly trained_on: number;
	readonly chunk_count: number;
	readonly languages: ReadonlyArray<string | null>;
	readonly #db: Database;
	readonly #vectorIndexes: VectorIndexCache;

	constructor(db: Database, vectorIndexes: VectorIndexCache, generation: Generation) {
		this.#db = db;
		this.#vectorIndexes = vectorIndexes;
		this.id = generation.id;
		this.knowledge_base_id = generation.knowledge_base_id;
		this.embedder = generation.embedder;
		this.basis = generation.basis;
		this.dimensions = generation.dimensions;
		this.trained_on = generation.trained_on;
		this.chunk_count = generation.chunk_count;
		this.languages = statement(
			db,
			`SELECT nullif(language, '') FROM generation_languages WHERE generation = ? AND documents > 0
			 ORDER BY documents DESC, language`,
		)
			.pluck()
			.all(generation.id) as Array<string | null>;
	}

	get floor(): number {
		const floor = statement(this.#db, 'SELECT floor FROM bases WHERE id = ?').pluck().get(this.basis);
		return (floor as number | undefined) ?? 0;
	}

	documentFrequency(term: string): number {
		const count = statement(this.#db, `SELECT doc FROM ${termsTable(this.id)} WHERE term = ?`)
			.pluck()
			.get(term);
		return (count as number | undefined) ?? 0;
	}

	searchKeywords(terms: readonly string[], limit: number): RankedChunk[] {
		if (terms.length === 0) return [];
		const table = fullTextTable(this.id);
		const matchExpression = terms.map((term) => `"${term.replaceAll('"', '')}"`).join(' OR ');
		// FTS5's rank is negative, and smaller for better matches.
		const sql = `SELECT rowid AS id, -rank AS score FROM ${table} WHERE ${table} MATCH ? ORDER BY rank LIMIT ?`;
		return statement(this.#db, sql).all(matchExpression, limit) as RankedChunk[];
	}

	searchNearest(vector: Int8Array, limit: number): RankedChunk[] {
		const { basis, dimensions, chunk_count: chunks } = this;
		if (basis === null || dimensions === null) return [];
		const version = statement(this.#db, 'SELECT changes FROM generations WHERE id = ?').pluck().get(this.id) as number;
		const inMemory = this.#vectorIndexes.get({ basis, chunks, dimensions, version }, () =>
			readAllVectors(this.#db, basis, dimensions),
		);
		return inMemory?.nearest(vector, limit) ?? searchVectorTable(this.#db, basis, vector, limit);
	}

	vector(chunk: number): Int8Array | undefined {
		if (this.basis === null) return undefined;
		const sql = `SELECT embedding FROM ${vectorTable(this.basis)} WHERE rowid = ?`;
		const bytes = statement(this.#db, sql).pluck().get(BigInt(chunk)) as Buffer | undefined;
		return bytes && new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	}

	termsOf(chunk: number): TermSet | undefined {
		const sql = 'SELECT id, title_terms, body_terms FROM chunks WHERE id = ?';
		const row = statement(this.#db, sql).get(chunk) as StoredTerms | undefined;
		return row && countTerms(row);
	}

	async texts(chunks: readonly number[]): Promise<Map<number, string>> {
		const find = statement(this.#db, 'SELECT text FROM chunks WHERE id = ?').pluck();
		return new Map(
			chunks.flatMap((id) => {
				const text = find.get(id) as string | undefined;
				return text === undefined ? [] : [[id, text] as const];
			}),
		);
	}
}

/** The nearest vectors as sqlite-vec finds them, which reads all vectors of the basis. */
export function searchVectorTable(db: Database, basis: string, vector: Int8Array, limit: number): RankedChunk[] {
	const sql = `SELECT rowid AS id, 1 - distance AS score FROM ${vectorTable(basis)}
		WHERE embedding MATCH vec_int8(?) AND k = ? ORDER BY distance`;
	return statement(db, sql).all(vector, limit) as RankedChunk[];
}
