import type { RankedChunk, SearchedGeneration, TermSet } from '../../search/search-reader.ts';
import type { Sql } from '../sql.ts';
import type { GenerationRow } from './generation-row.ts';
import type { LoadedGeneration } from './loaded-generation.ts';

/** What ranking reads of a generation: its full text and vectors are in memory. */
export class PostgresSearchedGeneration implements SearchedGeneration {
	readonly id: string;
	readonly knowledge_base_id: string;
	readonly embedder: string;
	readonly basis: string | null;
	readonly dimensions: number | null;
	readonly trained_on: number;
	readonly chunk_count: number;
	readonly languages: ReadonlyArray<string | null>;
	readonly floor: number;
	readonly #sql: Sql;
	readonly #loaded: LoadedGeneration;
	readonly #totals: { chunks: number; terms: number };

	constructor(sql: Sql, row: GenerationRow, loaded: LoadedGeneration) {
		this.id = row.id;
		this.knowledge_base_id = row.knowledge_base_id;
		this.embedder = row.embedder;
		this.basis = row.basis;
		this.dimensions = row.dimensions;
		this.trained_on = row.trained_on;
		this.chunk_count = row.chunk_count;
		this.languages = row.languages ?? [];
		this.floor = row.floor;
		this.#sql = sql;
		this.#loaded = loaded;
		this.#totals = { chunks: row.added_chunks, terms: row.added_terms };
	}

	documentFrequency(term: string): number {
		return this.#loaded.text.documentFrequency(term);
	}

	searchKeywords(terms: readonly string[], limit: number): RankedChunk[] {
		return this.#loaded.text.search(terms, limit, this.#totals);
	}

	searchNearest(vector: Int8Array, limit: number): RankedChunk[] {
		return this.#loaded.vectors?.nearest(vector, limit) ?? [];
	}

	vector(chunk: number): Int8Array | undefined {
		return this.#loaded.vectors?.get(chunk);
	}

	termsOf(chunk: number): TermSet | undefined {
		const { text } = this.#loaded;
		return text.hasChunk(chunk) ? { has: (term) => text.has(chunk, term) } : undefined;
	}

	async texts(chunks: readonly number[]): Promise<Map<number, string>> {
		const rows = await this.#sql.all<{ id: number; text: string }>(
			'SELECT id, text FROM chunks WHERE id = ANY(@chunks)',
			{ chunks },
		);
		return new Map(rows.map(({ id, text }) => [id, text]));
	}
}
