import type { Document } from '../contract/index.ts';
import type { WorkspaceScopedRecord } from './versioned-record.ts';

export interface KnowledgeBaseRecord extends WorkspaceScopedRecord {
	name: string;
	description: string | null;
	search_settings: {
		hybrid: boolean;
		/** The weight of the semantic half; null for the weight that the knowledge base chooses itself. */
		semantic_weight: number | null;
	};
	/** The generation of the search index that serves; null until the first document is indexed. */
	generation: string | null;
	/** The generation that a reindex is building beside the serving one; null when none runs. */
	rebuilding: string | null;
	/** The embedder of the serving generation's vectors; null when there is none. */
	embedder: string | null;
	/**
	 * Why the knowledge base needs a reindex: the server has another embedder now, or documents were added without vectors
	 * while the index's embedder was unavailable, or another model has its name. Null when it needs none.
	 */
	reindex_reason: 'embedder' | 'vectors' | 'model' | null;
	/** What indexing waits for, or why the last reindex failed; null when there is no problem. */
	problem: { code: string; message: string } | null;
	/** Counted in the record itself, so that its version changes with every change of its documents. */
	documents_total: number;
	/** Documents that are queued or being processed. */
	documents_pending: number;
	documents_failed: number;
	last_indexed_at: number | null;
	/** When the serving basis was trained; null when there is none, or the vectors come from a provider. */
	trained_at: number | null;
	/** When the pending or running training was requested; null when there is none. */
	training_asked_at: number | null;
	/** How many chunks the last tuned training had, if its basis serves; 0 if the serving basis is not tuned. */
	tuned_on: number;
	/** Chunks that were added, removed or replaced since that training began. */
	changed_chunks: number;
	/** The weight of the semantic half that the last tuned training chose; null without one, and if there was too little text to choose. */
	tuned_weight: number | null;
	/** Failed trainings since the last successful tuned training. Each makes the next request wait longer. */
	training_failures: number;
}

export interface DocumentRecord extends WorkspaceScopedRecord {
	knowledge_base_id: string;
	title: string;
	source_type: Document['source_type'];
	url: string | null;
	file_name: string | null;
	content_type: string | null;
	size_bytes: number | null;
	/** The name of the bytes in the blob store: their SHA-256. Null for a URL that was not fetched yet. */
	blob: string | null;
	status: Document['status'];
	error: Document['error'];
	/** Failures of processing since a person last queued it, after which it may still succeed. */
	attempts: number;
	chunk_count: number;
	page_count: number | null;
	language: string | null;
	indexed_at: number | null;
}
