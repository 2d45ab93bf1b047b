import type { Document, Source, SourcePage } from '../contract/index.ts';
import type { VersionedRecord, WorkspaceScopedRecord } from './versioned-record.ts';

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
	/** What indexing waits for, or why the last reindex or training failed; null when there is no problem. */
	problem: {
		code: string;
		message: string;
		/** Present if trainings fail: it stays until one succeeds. */
		task?: 'training';
	} | null;
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
	/** The source whose page it is; null for a document that a request added. */
	source_id: string | null;
}

/** A website, sitemap or page that a knowledge base follows. */
export interface SourceRecord extends WorkspaceScopedRecord {
	knowledge_base_id: string;
	type: Source['type'];
	/** Where each run begins. */
	url: string;
	include: string[];
	exclude: string[];
	max_pages: number;
	/** Links from the start to the farthest page that is fetched. */
	depth: number;
	/** Null: only on request. */
	refresh_hours: number | null;
	/** `deleting`: its documents are being removed. */
	state: 'active' | 'paused' | 'deleting';
	/** 1 while a run is in progress, also while it is paused. */
	running: 0 | 1;
	/** The number of the current run, or of the last. */
	run: number;
	/** The hosts whose pages belong to the source. */
	hosts: string[];
	/** 1 if the run cannot tell which pages are gone, because links of a page are unknown. */
	incomplete: 0 | 1;
	/** Requests in a row that got no usable answer. */
	failures_in_a_row: number;
	/** Why the last run ended early; null if it did not. */
	error: { code: string; message: string } | null;
	/** Pages of this run: known to it, answered, without a change, failed, not there any more. */
	found: number;
	fetched: number;
	unchanged: number;
	failed: number;
	gone: number;
	started_at: number | null;
	finished_at: number | null;
	/** 0: it is due. Null: while a run is in progress, and if none is due. */
	next_run_at: number | null;
}

/** One address of a source. The frontier of a run is the pages with a `due_order`, lowest first. */
export interface SourcePageRecord extends VersionedRecord {
	source_id: string;
	kind: 'page' | 'sitemap';
	/** The canonical form of the address; unique in the source. */
	url: string;
	/** The address as it was linked, if it differs. */
	fetch_url: string | null;
	/** Links from the start. */
	depth: number;
	status: SourcePage['status'];
	error: SourcePage['error'];
	http_status: number | null;
	/** The page that counts in its place: the target of a redirect, or the page with the same content. */
	target_url: string | null;
	document_id: string | null;
	/** The blob that the validators belong to. */
	blob: string | null;
	/** What two pages with the same content share. */
	content: string | null;
	etag: string | null;
	last_modified: string | null;
	/** Runs in a row that have not found it. */
	misses: number;
	/** Failed attempts in this run. */
	attempts: number;
	due_order: number | null;
	/** The last run that has found it. */
	seen_run: number;
	/** The last run that has counted a miss. */
	missed_run: number;
	fetched_at: number | null;
	changed_at: number | null;
	updated_at: number;
}
