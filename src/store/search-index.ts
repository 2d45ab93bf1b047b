import type { ParsedChunk } from '../contract/index.ts';
import type { DocumentRecord } from './knowledge-records.ts';

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
			/** The embedder of all its vectors. */
			embedder: string;
	  }
	/** Adds a document's chunks, with their vectors if the generation has a basis. Replaces the document's earlier chunks. */
	| {
			op: 'index.add_document';
			generation: string;
			document_id: string;
			title: string;
			url: string | null;
			/** ISO 639-1: the language in which its terms were stemmed. Queries are stemmed in the same language. */
			language: string | null;
			chunks: ParsedChunk[];
			/** The basis of `vectors`; null without vectors. */
			basis: string | null;
			vectors: Int8Array | null;
			/** In a generation that is being built: what `coverage` and `index.describe_documents` report. */
			built_from?: { version: number; page_count: number | null; missing_text: string | null };
	  }
	/** Adds a document with the chunks, full text and vectors of another document with the same bytes and title. */
	| {
			op: 'index.copy_document';
			generation: string;
			from_document_id: string;
			/** Another generation to copy from. Its vectors are not copied, because they belong to its bases. */
			from_generation?: string;
			document_id: string;
			title: string;
			url: string | null;
	  }
	/** Copies into the documents' records what a generation that is being built has of them. Skips documents that have changed since. */
	| { op: 'index.describe_documents'; generation: string; document_ids: string[]; indexed_at: number }
	/** Removes a document's chunks, full text and vectors (of every basis of the generation). */
	| { op: 'index.remove_document'; generation: string; document_id: string }
	/** Stores a basis and makes its empty vector table. It does not serve yet. */
	| {
			op: 'index.open_basis';
			generation: string;
			basis: string;
			dimensions: number;
			/** 0 when it was not trained here. */
			trained_on: number;
			/** The trained model; empty when the vectors come from a provider. */
			model: Uint8Array;
			/** The cosine of unrelated texts, 0..1; 0 when absent. */
			floor?: number;
			/** The vector that a provider's model gives a fixed text, by which the model is recognised later; absent for other models. */
			sample?: Int8Array;
	  }
	/** Vectors of stored chunks (row ids) under a basis. Ids of removed chunks are skipped. */
	| { op: 'index.add_vectors'; basis: string; chunk_ids: number[]; vectors: Int8Array }
	/** Makes this basis serve the generation's searches and drops its other bases. */
	| { op: 'index.serve_basis'; generation: string; basis: string }
	/** Drops the bases of a generation that do not serve: a training that failed has left them. */
	| { op: 'index.drop_unserved_bases'; generation: string }
	/** Drops a generation with everything it holds. */
	| { op: 'index.drop_generation'; generation: string };

/** What the store knows of a generation. */
export interface Generation {
	id: string;
	knowledge_base_id: string;
	/** The embedder of its vectors: `builtin`, or the id of a provider's embedder. */
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

/** A document, and what a generation that is being built has of it. */
export interface DocumentCoverage {
	document: DocumentRecord;
	/** The version that it was built from; 0 when it was copied, null when the generation does not have it. */
	built_from: number | null;
}

/** A basis and its progress. */
export interface OpenedBasis {
	id: string;
	/** Values of a vector. */
	dimensions: number;
	/** The last chunk that `index.add_vectors` gave a vector: chunks with smaller ids have theirs. 0 for none. */
	embedded_to: number;
}

/** The text of a stored chunk with its vector. */
export interface EmbeddedText extends Omit<StoredText, 'id'> {
	/** In its document. */
	position: number;
	vector: Int8Array;
}

/** The text of a stored chunk, for an embedder of a provider. */
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
