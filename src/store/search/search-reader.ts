import type { Generation, StoredTerms } from '../search-index.ts';

/** Reads the search index for searching and training, beside the writer. */
export interface SearchReader extends AsyncDisposable {
	/**
	 * Runs several reads on one snapshot of the database. Snapshots of a reader are taken one after the other.
	 * @param read must not use the snapshot after it has resolved
	 */
	snapshot<T>(read: (index: SearchSnapshot) => Promise<T>): Promise<T>;
}

/** The search index at one moment. */
export interface SearchSnapshot {
	/** Undefined when it has been dropped. */
	generation(id: string): Promise<SearchedGeneration | undefined>;
	/** Chunks as hits show them, by id; without those that are gone. */
	chunks(ids: readonly number[]): Promise<Map<number, FoundChunk>>;
	/** The texts of the chunks just before and after each chunk, if they are of the same section. By the chunk's id. */
	neighbours(ids: readonly number[]): Promise<Map<number, NeighbouringTexts>>;
	/** The serialised basis, empty when it was not trained here; undefined when it has been dropped. */
	model(basis: string): Promise<Uint8Array | undefined>;
	/** The terms of all chunks of a generation, except those of the named document, in the order of storage. */
	allTerms(generation: string, except?: string): Promise<StoredTerms[]>;
}

/** What ranking reads of a generation. */
export interface SearchedGeneration extends Generation {
	/** The languages of its documents, the most frequent first; null stands for an unknown one. */
	readonly languages: ReadonlyArray<string | null>;
	/** The cosine of unrelated texts with the serving basis, 0..1; 0 without one. */
	readonly floor: number;
	/** How many chunks have a term. */
	documentFrequency(term: string): number;
	/** The chunks that have any of the terms, best first, by BM25. A repeated term counts again. */
	searchKeywords(terms: readonly string[], limit: number): RankedChunk[];
	/** The chunks with the nearest vectors of the serving basis, best first; the score is the cosine. None without a basis. */
	searchNearest(vector: Int8Array, limit: number): RankedChunk[];
	/** The vector of a chunk; undefined when it has none under the serving basis. */
	vector(chunk: number): Int8Array | undefined;
	/** The terms of a chunk; undefined when it is gone. */
	termsOf(chunk: number): TermSet | undefined;
	/** The texts of chunks, by id; without those that are gone. */
	texts(chunks: readonly number[]): Promise<Map<number, string>>;
}

/** A chunk's id and its score; larger is better. */
export interface RankedChunk {
	id: number;
	score: number;
}

/** The distinct terms of a chunk. */
export interface TermSet {
	has(term: string): boolean;
}

/** A chunk as a hit shows it. */
export interface FoundChunk {
	document_id: string;
	position: number;
	title: string;
	url: string | null;
	text: string;
	heading_path: string[];
	page: number | null;
}

/** The texts around a chunk. */
export interface NeighbouringTexts {
	previous?: string;
	next?: string;
}
