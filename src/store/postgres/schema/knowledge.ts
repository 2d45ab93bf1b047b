/** The records of knowledge bases, their documents and sources. */
export const KNOWLEDGE_TABLES = `
	CREATE TABLE knowledge_bases (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, name string NOT NULL,
		description string, search_settings string NOT NULL, generation string, documents_total bigint NOT NULL,
		documents_pending bigint NOT NULL, documents_failed bigint NOT NULL, last_indexed_at bigint,
		created_at bigint NOT NULL, updated_at bigint NOT NULL, rebuilding string, embedder string, reindex_reason string,
		problem string, trained_at bigint, training_asked_at bigint, tuned_on bigint NOT NULL DEFAULT 0,
		changed_chunks bigint NOT NULL DEFAULT 0, tuned_weight double precision, training_failures bigint NOT NULL DEFAULT 0
	);
	CREATE INDEX knowledge_bases_by_creation ON knowledge_bases (workspace_id, created_at, id);

	CREATE TABLE documents (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, knowledge_base_id string NOT NULL,
		title string NOT NULL, source_type string NOT NULL, url string, file_name string, content_type string,
		size_bytes bigint, blob string, status string NOT NULL, error string, attempts bigint NOT NULL,
		chunk_count bigint NOT NULL, page_count bigint, language string, created_at bigint NOT NULL,
		updated_at bigint NOT NULL, indexed_at bigint, source_id string
	);
	CREATE INDEX documents_by_blob ON documents (blob) WHERE blob IS NOT NULL;
	CREATE INDEX documents_by_creation ON documents (knowledge_base_id, created_at, id);
	CREATE INDEX documents_by_source ON documents (source_id, status) WHERE source_id IS NOT NULL;
	CREATE INDEX documents_by_status ON documents (knowledge_base_id, status, created_at, id);

	CREATE TABLE sources (
		id string PRIMARY KEY, version bigint NOT NULL, workspace_id string NOT NULL, knowledge_base_id string NOT NULL,
		type string NOT NULL, url string NOT NULL, include string NOT NULL, exclude string NOT NULL,
		max_pages bigint NOT NULL, depth bigint NOT NULL, refresh_hours bigint, state string NOT NULL,
		running bigint NOT NULL, run bigint NOT NULL, hosts string NOT NULL, incomplete bigint NOT NULL,
		failures_in_a_row bigint NOT NULL, error string, found bigint NOT NULL, fetched bigint NOT NULL,
		unchanged bigint NOT NULL, failed bigint NOT NULL, gone bigint NOT NULL, started_at bigint, finished_at bigint,
		next_run_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL
	);
	CREATE INDEX sources_by_creation ON sources (knowledge_base_id, created_at, id);

	CREATE TABLE source_pages (
		id string PRIMARY KEY, version bigint NOT NULL, source_id string NOT NULL, kind string NOT NULL, url string NOT NULL,
		fetch_url string, depth bigint NOT NULL, status string NOT NULL, error string, http_status bigint, target_url string,
		document_id string, blob string, content string, etag string, last_modified string, misses bigint NOT NULL,
		attempts bigint NOT NULL, due_order bigint, seen_run bigint NOT NULL, missed_run bigint NOT NULL, fetched_at bigint,
		changed_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL
	);
	CREATE INDEX source_pages_by_content ON source_pages (source_id, content) WHERE content IS NOT NULL;
	CREATE INDEX source_pages_by_creation ON source_pages (source_id, created_at, id);
	CREATE INDEX source_pages_by_document ON source_pages (document_id) WHERE document_id IS NOT NULL;
	CREATE INDEX source_pages_by_run ON source_pages (source_id, kind, seen_run);
	CREATE INDEX source_pages_by_target ON source_pages (source_id, target_url) WHERE target_url IS NOT NULL;
	CREATE UNIQUE INDEX source_pages_by_url ON source_pages (source_id, url);
	CREATE INDEX source_pages_frontier ON source_pages (source_id, due_order, id) WHERE due_order IS NOT NULL;
`;
