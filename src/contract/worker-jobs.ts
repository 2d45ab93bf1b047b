import type { ErrorCode } from '../base/index.ts';

/** What workers answer: a result, or an error as a value, because error classes do not survive the way between threads. */
export type WorkerResult<T> = { ok: true; value: T } | { ok: false; error: { code: ErrorCode; message: string } };

/** The formats that documents come in. */
export type DocumentFormat = 'pdf' | 'docx' | 'html' | 'md' | 'txt';

/** Parse one stored file into chunks. */
export interface ParseJob {
	/** Absolute path of the stored bytes. */
	path: string;
	/** What the uploader called the file; decides the format only where the content does not. */
	file_name: string | null;
	/** The Content-Type it came with, parameters included (a charset there is honoured). */
	content_type: string | null;
	/** The document's title where the uploader gave one; else the file's own is looked for. */
	title: string | null;
	/** The address that the document came from, for readable HTML. */
	url: string | null;
}

export interface ParsedChunk {
	/** The chunk's text as a reader should see it, paragraphs separated by blank lines. */
	text: string;
	/** The headings above it, outermost first. */
	heading_path: string[];
	/** The page on which it begins, from 1; null where the format has no pages. */
	page: number | null;
	/** The analysed terms of headings and title, separated by spaces. */
	title_terms: string;
	/** The analysed terms of the text, separated by spaces. */
	body_terms: string;
}

export interface ParsedDocument {
	/** The title found in the file (or the one given), null where there is none. */
	title: string | null;
	format: DocumentFormat;
	/** ISO 639-1, null where it could not be told. */
	language: string | null;
	page_count: number | null;
	/** At least one: a document without text is refused with `no_text`. */
	chunks: ParsedChunk[];
}

/** Compute vectors for new chunks of a generation with its current basis. */
export interface FoldJob {
	kind: 'fold';
	/** The database file, opened read-only. */
	database: string;
	/** The basis to embed with. */
	basis: string;
	chunks: Array<Pick<ParsedChunk, 'title_terms' | 'body_terms'>>;
}

/** Train a new basis on all chunks of a generation and the given new ones, and embed them all. */
export interface TrainJob {
	kind: 'train';
	database: string;
	/** The generation whose stored chunks to train on; null for a knowledge base that has none yet. */
	generation: string | null;
	/** A stored document that is left out: the new chunks replace its own. */
	exceptDocumentId?: string;
	/** Chunks that are not stored yet. */
	chunks: Array<Pick<ParsedChunk, 'title_terms' | 'body_terms'>>;
}

export interface FoldResult {
	/** One row of `dimensions` int8 values a chunk, in the order given. */
	vectors: Int8Array;
	dimensions: number;
	/** Occurrences of terms in the chunks, and of those that the basis does not know. */
	terms: number;
	unknown_terms: number;
}

export interface TrainResult {
	/** The serialised basis: vocabulary, idf, term vectors. */
	model: Uint8Array;
	dimensions: number;
	/** How many chunks it was trained on. */
	trained_on: number;
	/** Rows of the stored chunks whose ids follow in the same order. */
	stored_ids: number[];
	stored_vectors: Int8Array;
	/** Rows of the given chunks. */
	vectors: Int8Array;
}

/** Hold the arguments of a tool's call against the schema of its parameters. */
export interface ArgumentCheckJob {
	/** JSON Schema of an object. */
	schema: Record<string, unknown>;
	args: Record<string, unknown>;
}

export type ArgumentCheckResult =
	| { verdict: 'fits' }
	/** `complaint`: what is wrong, as the end of a sentence about "they". */
	| { verdict: 'misfits'; complaint: string }
	/** The check did not end within its time limit. */
	| { verdict: 'too_slow' }
	/** The schema is none that can be used. */
	| { verdict: 'no_schema' };

/** Search one or more generations. */
export interface SearchJob {
	database: string;
	/** What to search: each knowledge base's serving generation with its basis, and its weights. */
	targets: Array<{
		knowledge_base_id: string;
		generation: string;
		basis: string | null;
		hybrid: boolean;
		semantic_weight: number;
		/**
		 * The query as a provider's embedder sees it; its vectors alone are compared with it. Absent for the built-in embedder,
		 * which the worker asks itself, and where the provider's is not to be had: then the words must do.
		 */
		question?: { embedder: string; vector: Float32Array };
	}>;
	query: string;
	top_k: number;
	min_score: number;
}

export interface SearchHit {
	knowledge_base_id: string;
	document_id: string;
	/** Stable within its document: `<document id>.<position>`. */
	chunk_id: string;
	title: string;
	url: string | null;
	text: string;
	heading_path: string[];
	page: number | null;
	/** Fused score times the query's confidence, 0..1. */
	score: number;
	/** Absolute parts, 0..1. */
	semantic_score: number;
	keyword_score: number;
}

export interface SearchResult {
	hits: SearchHit[];
	/** How well the best hit matches in absolute terms, 0..1: the highest of all targets. */
	confidence: number;
}
