import { InvertedIndex, MutableVectorIndex } from '../../../retrieval/index.ts';
import type { Sql } from '../sql.ts';
import type { GenerationRow } from './generation-row.ts';

/** Chunks or vectors in one query. A page is a few megabytes, and other work of the thread runs between pages. */
const PAGE_SIZE = 1000;

interface LoadedVectors {
	basis: string;
	index: MutableVectorIndex;
}

/** The full text and the vectors of a generation in memory. */
export class LoadedGeneration {
	readonly id: string;
	readonly text = new InvertedIndex();
	#vectors: LoadedVectors | null = null;
	/** The change up to which it is loaded. */
	#change = 0;

	constructor(id: string) {
		this.id = id;
	}

	/** The memory in bytes, about. */
	get bytes(): number {
		return this.text.bytes + (this.#vectors?.index.bytes ?? 0);
	}

	/** The vectors of the serving basis; null without one. */
	get vectors(): MutableVectorIndex | null {
		return this.#vectors?.index ?? null;
	}

	/** The change up to which it is loaded. */
	get change(): number {
		return this.#change;
	}

	/**
	 * Loads what has changed: everything, the first time. After an error it must not be used any more.
	 * @param sql one snapshot of the database, which `row` is from
	 * @param onPage is called after each page
	 */
	async follow(sql: Sql, row: GenerationRow, onPage: () => void): Promise<void> {
		const loaded = this.#change;
		if (row.changes !== loaded) {
			await this.#removeChunks(sql, loaded);
			for await (const { id, title_terms, body_terms } of this.#newTerms(sql, onPage)) {
				this.text.add(id, title_terms, body_terms);
			}
			if (loaded === 0) this.text.compact();
		}
		const { basis, dimensions, changes, chunk_count } = row;
		if (basis === null || dimensions === null) this.#vectors = null;
		else if (this.#vectors?.basis !== basis) {
			this.#vectors = { basis, index: new MutableVectorIndex(dimensions, chunk_count) };
			await this.#loadVectors(sql, this.#vectors, 0, onPage);
		} else if (changes !== loaded) await this.#loadVectors(sql, this.#vectors, loaded, onPage);
		this.#change = changes;
	}

	async #removeChunks(sql: Sql, loaded: number): Promise<void> {
		if (loaded === 0) return;
		const removals = await sql.all<{ first_chunk: number; last_chunk: number }>(
			'SELECT first_chunk, last_chunk FROM removed_chunks WHERE generation = @id AND change > @loaded',
			{ id: this.id, loaded },
		);
		for (const { first_chunk, last_chunk } of removals) {
			for (const id of this.text.remove(first_chunk, last_chunk)) this.#vectors?.index.delete(id);
		}
	}

	async *#newTerms(sql: Sql, onPage: () => void) {
		for (let after = this.text.lastId; ; ) {
			const page = await sql.all<{ id: number; title_terms: string; body_terms: string }>(
				`SELECT id, title_terms, body_terms FROM chunks WHERE generation = @id AND id > @after ORDER BY id LIMIT @limit`,
				{ id: this.id, after, limit: PAGE_SIZE },
			);
			yield* page;
			onPage();
			if (page.length < PAGE_SIZE) return;
			after = page.at(-1)?.id ?? after;
		}
	}

	async #loadVectors(sql: Sql, { basis, index }: LoadedVectors, loaded: number, onPage: () => void): Promise<void> {
		for (let [change, chunk] = [loaded + 1, 0]; ; ) {
			const page = await sql.all<{ change: number; chunk: number; embedding: Buffer }>(
				`SELECT change, chunk, embedding FROM vectors WHERE basis = @basis AND (change, chunk) > (@change, @chunk)
				 ORDER BY change, chunk LIMIT @limit`,
				{ basis, change, chunk, limit: PAGE_SIZE },
			);
			for (const { chunk, embedding } of page) {
				index.set(chunk, new Int8Array(embedding.buffer, embedding.byteOffset, embedding.length));
			}
			onPage();
			const last = page.at(-1);
			if (last === undefined || page.length < PAGE_SIZE) return;
			[change, chunk] = [last.change, last.chunk];
		}
	}
}
