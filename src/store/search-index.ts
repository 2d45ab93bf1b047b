import type { ParsedChunk } from '../contract/index.ts';
import type { DocumentRecord } from './records.ts';

/**
 * How the search index changes. Each knowledge base is served by one *generation*: its chunks, their full text and one
 * vector table per *basis* (the trained embedding). A new generation or basis is built beside the serving one and takes
 * over in one commit.
 */
export type IndexWrite =
	| {
			op: 'index.open_generation';
			generation: string;
			knowledge_base_id: string;
			/** Whose vectors it holds, and no other's. */
			embedder: string;
	  }
	/** Adds a document's chunks, and their vectors where the generation has a basis. Replaces what the document had. */
	| {
			op: 'index.add_document';
			generation: string;
			document_id: string;
			title: string;
			url: string | null;
			/** ISO 639-1: how its terms were stemmed, and so how queries must be. */
			language: string | null;
			chunks: ParsedChunk[];
			/** The basis that `vectors` were made with; null where none is given. */
			basis: string | null;
			vectors: Int8Array | null;
			/** In a generation that is being built: what `coverage` and `index.describe_documents` tell of it. */
			built_from?: { version: number; page_count: number | null };
	  }
	/** Adds a document with the chunks, full text and vectors of another one of the same bytes and title. */
	| {
			op: 'index.copy_document';
			generation: string;
			from_document_id: string;
			/** Another generation to copy from; vectors stay behind, as they belong to its bases. */
			from_generation?: string;
			document_id: string;
			title: string;
			url: string | null;
	  }
	/** Writes into the records of documents what a generation that is being built holds of them. Passes over those that have changed since. */
	| { op: 'index.describe_documents'; generation: string; document_ids: string[]; indexed_at: number }
	/** Removes a document's chunks, full text and vectors (of every basis of the generation). */
	| { op: 'index.remove_document'; generation: string; document_id: string }
	/** Stores a basis and makes its empty vector table. It does not serve yet. */
	| {
			op: 'index.open_basis';
			generation: string;
			basis: string;
			dimensions: number;
			/** 0 where it was not trained here. */
			trained_on: number;
			/** What was trained; no bytes where the vectors come from a provider. */
			model: Uint8Array;
			/** The cosine of what has nothing to do with each other, 0..1; 0 where absent. */
			floor?: number;
			/** The vector that a provider's model gives a text that is always the same; absent where nobody needs to know it again. */
			sample?: Int8Array;
	  }
	/** Vectors of stored chunks (row ids) under a basis. Ids that are gone by now are passed over. */
	| { op: 'index.add_vectors'; basis: string; chunk_ids: number[]; vectors: Int8Array }
	/** The generation's searches use this basis from now on; its other bases are dropped. */
	| { op: 'index.serve_basis'; generation: string; basis: string }
	/** Drops a generation with everything it holds. */
	| { op: 'index.drop_generation'; generation: string };

/** What the store knows of a generation. */
export interface Generation {
	id: string;
	knowledge_base_id: string;
	/** Whose vectors it holds: `builtin`, or the id of a provider's embedder. */
	embedder: string;
	/** The serving basis, null before the first one. */
	basis: string | null;
	/** Values of a vector of the serving basis; null without one. */
	dimensions: number | null;
	/** How many chunks the serving basis was trained on; 0 without one. */
	trained_on: number;
	/** How many chunks the generation holds. */
	chunk_count: number;
}

/** A document beside what a generation that is being built has of it. */
export interface DocumentCoverage {
	document: DocumentRecord;
	/** The version that it was built from; 0 where it was copied, null where the generation does not have it. */
	built_from: number | null;
}

/** A basis as far as it has come. */
export interface OpenedBasis {
	id: string;
	/** Values of a vector. */
	dimensions: number;
	/** The last chunk that `index.add_vectors` has given a vector: chunks of smaller ids have theirs. 0 for none. */
	embedded_to: number;
}

/** What a stored chunk says, for an embedder that reads texts. */
export interface StoredText {
	id: number;
	/** The document's. */
	title: string;
	heading_path: string[];
	text: string;
}

/** The analysed terms of a stored chunk. */
export interface StoredTerms {
	id: number;
	title_terms: string;
	body_terms: string;
}

/** A stored chunk as `GET …/documents/{doc_id}/chunks` shows it. */
export interface StoredChunk {
	id: number;
	document_id: string;
	position: number;
	text: string;
	heading_path: string[];
	page: number | null;
}
