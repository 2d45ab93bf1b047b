import type { ErrorCode } from '../base/index.ts';

/** The result of a worker's job, or its error as a value: error classes do not survive the transfer between threads. */
export type WorkerResult<T> = { ok: true; value: T } | { ok: false; error: { code: ErrorCode; message: string } };

/** The formats of documents. */
export type DocumentFormat =
	| 'pdf'
	| 'docx'
	| 'xlsx'
	| 'pptx'
	| 'odt'
	| 'odp'
	| 'ods'
	| 'rtf'
	| 'epub'
	| 'eml'
	| 'html'
	| 'md'
	| 'txt'
	| 'csv';

/** Text recognition (OCR): the files of the packages that the operator has installed, with absolute paths. */
export interface TextRecognition {
	/** The main file of tesseract.js. */
	library: string;
	languages: Array<{
		/** The library's name of the language: `eng`. */
		code: string;
		/** Its trained data, compressed. */
		path: string;
	}>;
}

/** A picture in shades of gray, row by row from the top: 0 is black. */
export interface GrayPicture {
	width: number;
	height: number;
	pixels: Uint8Array;
}

/** A line of recognised text. Positions are in pixels of the raster, from its upper left corner. */
export interface RecognisedLine {
	words: Array<{ text: string; left: number; right: number }>;
	/** The height of its base line. */
	baseline: number;
	/** The height of the line's letters, descenders included. All lines of a paragraph have the same. */
	size: number;
}

/** Parse one stored file into chunks. */
export interface ParseJob {
	/** Absolute path of the stored bytes. */
	path: string;
	/** The file's name from the upload. Decides the format only if the content does not. */
	file_name: string | null;
	/** The Content-Type of the upload, with its parameters (a charset is honoured). */
	content_type: string | null;
	/** The document's title from the upload; without one, the title is read from the file. */
	title: string | null;
	/** The URL of the document, for readable HTML. */
	url: string | null;
	/** `detect`: find out whether there are scanned pages. An object: recognise their text, which takes seconds a page. Absent: neither. */
	recognition?: 'detect' | TextRecognition | undefined;
}

export interface ParsedChunk {
	/** The chunk's text for readers, with paragraphs separated by blank lines. */
	text: string;
	/** The headings above it, outermost first. */
	heading_path: string[];
	/** The page or slide on which it begins, from 1; null for formats without pages. */
	page: number | null;
	/** The analysed terms of headings and title, separated by spaces. */
	title_terms: string;
	/** The analysed terms of the text, separated by spaces. */
	body_terms: string;
}

export interface ParsedDocument {
	/** The given title or the file's own; null for none. */
	title: string | null;
	format: DocumentFormat;
	/** ISO 639-1; null if it was not detected. */
	language: string | null;
	page_count: number | null;
	/** Whether it has, or may have, scanned pages whose text was not read. Only with `detect`. */
	has_scans?: boolean | undefined;
	/** A sentence about text of the file that is not in the chunks; absent if nothing is known to be missing. */
	missing_text?: string | undefined;
	/** At least one, unless there are scans: another document without text is rejected with `no_text`. */
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

/** Trains a new basis on all chunks of a generation and the given new ones, and embeds them all. */
export interface TrainJob {
	kind: 'train';
	database: string;
	/** The generation whose stored chunks are used; null for a knowledge base without one. */
	generation: string | null;
	/**
	 * Whether the directions are also tuned on pairs of texts, and a semantic weight is chosen, which takes several times as
	 * long.
	 */
	tuned: boolean;
	/** A stored document that is skipped, because the new chunks replace its chunks. */
	exceptDocumentId?: string;
	/** Chunks that are not stored yet. */
	chunks: Array<Pick<ParsedChunk, 'title_terms' | 'body_terms'>>;
}

export interface FoldResult {
	/** One row of `dimensions` int8 values per chunk, in the given order. */
	vectors: Int8Array;
	dimensions: number;
	/** Occurrences of terms in the chunks, and of terms that are not in the basis. */
	terms: number;
	unknown_terms: number;
}

export interface TrainResult {
	/** The serialised basis: vocabulary, idf, term vectors. */
	model: Uint8Array;
	dimensions: number;
	/** How many chunks it was trained on. */
	trained_on: number;
	/** The weight of the semantic half that suits the knowledge base; null without tuning, and if there is too little text to choose. */
	semantic_weight: number | null;
	/** Rows of the stored chunks whose ids follow in the same order. */
	stored_ids: number[];
	stored_vectors: Int8Array;
	/** Rows of the given chunks. */
	vectors: Int8Array;
}

/** Validates the arguments of a tool call against the schema of its parameters. */
export interface ArgumentCheckJob {
	/** JSON Schema of an object. */
	schema: Record<string, unknown>;
	args: Record<string, unknown>;
}

export type ArgumentCheckResult =
	| { verdict: 'valid' }
	/** `problem`: what is wrong, as the end of a sentence about "they". */
	| { verdict: 'invalid'; problem: string }
	/** The check reached its time limit. */
	| { verdict: 'too_slow' }
	/** The schema cannot be used. */
	| { verdict: 'no_schema' };

/** A word, normalised, with words of nearly the same meaning. */
export interface WordSynonyms {
	word: string;
	synonyms: string[];
}

/** Search one or more generations. */
export interface SearchJob {
	database: string;
	/** The serving generation of each knowledge base, with its basis and weights. */
	targets: Array<{
		knowledge_base_id: string;
		generation: string;
		basis: string | null;
		hybrid: boolean;
		semantic_weight: number;
		/**
		 * The query's vector from a provider's embedder, compared only with vectors of the same embedder. Absent for the built-in
		 * embedder, which the worker calls itself, and if the provider is not available: then the search uses keywords only.
		 */
		question?: {
			embedder: string;
			vector: Float32Array;
			/** The vector of the query in its context; absent if the query stands alone. */
			vectorInContext?: Float32Array | undefined;
		};
	}>;
	query: string;
	/** What the query depends on: the question before, the reply to it, and how much (up to 1). Absent if it stands alone. */
	context?: { question: string; reply: string; weight: number } | undefined;
	/** The synonyms of words of the query, for those that the documents do not have. */
	synonyms?: WordSynonyms[] | undefined;
	top_k: number;
	min_score: number;
	/** Hits for a prompt: texts that repeat another hit give way to others, and each hit has the text around it. */
	for_prompt?: boolean | undefined;
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
	/** The text of the same section before and after it, which may be empty; only for a prompt. */
	around?: { before: string; after: string };
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
	/** The synonyms that the search was given; absent without a thesaurus. */
	synonyms?: WordSynonyms[] | undefined;
}
