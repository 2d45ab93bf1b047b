import type { FoundChunk, NeighbouringTexts, SearchSnapshot } from '../../search/search-reader.ts';
import type { StoredTerms } from '../../search-index.ts';
import type { Sql } from '../sql.ts';
import type { GenerationCache } from './generation-cache.ts';
import { readGenerationRow } from './generation-row.ts';
import { PostgresSearchedGeneration } from './searched-generation.ts';

/** Chunks whose terms are read in one query. */
const PAGE_SIZE = 1000;

/** The search index in one transaction. */
export class PostgresSearchSnapshot implements SearchSnapshot {
	readonly #sql: Sql;
	readonly #generations: GenerationCache;

	constructor(sql: Sql, generations: GenerationCache) {
		this.#sql = sql;
		this.#generations = generations;
	}

	async generation(id: string): Promise<PostgresSearchedGeneration | undefined> {
		const row = await readGenerationRow(this.#sql, id);
		if (row !== undefined) {
			return new PostgresSearchedGeneration(this.#sql, row, await this.#generations.get(this.#sql, row));
		}
		this.#generations.delete(id);
		return undefined;
	}

	async chunks(ids: readonly number[]): Promise<Map<number, FoundChunk>> {
		if (ids.length === 0) return new Map();
		const rows = await this.#sql.all<FoundChunk & { id: number; heading_path: string }>(
			`SELECT c.id, d.document_id, c.position, d.title, d.url, c.text, c.heading_path, c.page
			 FROM chunks c JOIN indexed_documents d ON d.seq = c.document WHERE c.id = ANY(@ids)`,
			{ ids },
		);
		return new Map(
			rows.map(({ id, ...row }) => [id, { ...row, heading_path: JSON.parse(row.heading_path) as string[] }]),
		);
	}

	async neighbours(ids: readonly number[]): Promise<Map<number, NeighbouringTexts>> {
		const found = new Map<number, NeighbouringTexts>(ids.map((id) => [id, {}]));
		if (ids.length === 0) return found;
		const rows = await this.#sql.all<{ id: number; text: string; is_next: boolean }>(
			`SELECT c.id, other.text, other.position > c.position AS is_next
			 FROM chunks c JOIN chunks other ON other.document = c.document
				AND other.position IN (c.position - 1, c.position + 1) AND other.heading_path = c.heading_path
			 WHERE c.id = ANY(@ids)`,
			{ ids },
		);
		for (const { id, text, is_next } of rows) {
			const texts = found.get(id);
			if (texts !== undefined) texts[is_next ? 'next' : 'previous'] = text;
		}
		return found;
	}

	async model(basis: string): Promise<Uint8Array | undefined> {
		return (await this.#sql.get<{ model: Buffer }>('SELECT model FROM bases WHERE id = @basis', { basis }))?.model;
	}

	async allTerms(generation: string, except = ''): Promise<StoredTerms[]> {
		const all: StoredTerms[] = [];
		for (let after = 0; ; ) {
			const page = await this.#sql.all<StoredTerms & { is_left_out: boolean }>(
				`SELECT id, title_terms, body_terms, document IS NOT DISTINCT FROM (
					SELECT seq FROM indexed_documents WHERE generation = @generation AND document_id = @except
				 ) AS is_left_out
				 FROM chunks WHERE generation = @generation AND EXISTS (SELECT 1 FROM generations WHERE id = @generation)
				 AND id > @after ORDER BY id LIMIT @limit`,
				{ generation, except, after, limit: PAGE_SIZE },
			);
			for (const { is_left_out, ...terms } of page) if (!is_left_out) all.push(terms);
			if (page.length < PAGE_SIZE) return all;
			after = page.at(-1)?.id ?? after;
		}
	}
}
