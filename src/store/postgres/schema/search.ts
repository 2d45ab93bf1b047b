/**
 * The search index. Ids of chunks are never reused: a vector computed for a removed chunk must not become the vector of another one.
 * Each write locks the row of its generation first. So `changes` orders the changes of a generation as they are committed, and the
 * chunks of a generation get their ids in that order: a search worker finds what is new by the last id and the last change that it has.
 */
export const SEARCH_TABLES = `
	-- added_chunks and added_terms: of all chunks ever added. The embedded store's bm25() counts removed chunks in its means, too.
	CREATE TABLE generations (
		id string PRIMARY KEY, knowledge_base_id string NOT NULL, embedder string NOT NULL, basis string,
		chunk_count bigint NOT NULL DEFAULT 0, changes bigint NOT NULL DEFAULT 0, added_chunks bigint NOT NULL DEFAULT 0,
		added_terms bigint NOT NULL DEFAULT 0
	);
	CREATE INDEX generations_by_knowledge_base ON generations (knowledge_base_id);

	CREATE TABLE bases (
		id string PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, generation string NOT NULL, dimensions bigint NOT NULL,
		trained_on bigint NOT NULL, model bytea NOT NULL, floor double precision NOT NULL, embedded_to bigint NOT NULL DEFAULT 0,
		sample bytea
	);
	CREATE INDEX bases_by_generation ON bases (generation, seq);

	CREATE TABLE indexed_documents (
		seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, generation string NOT NULL, document_id string NOT NULL,
		title string NOT NULL, url string, language string, built_from bigint, page_count bigint, missing_text string
	);
	CREATE UNIQUE INDEX indexed_documents_by_id ON indexed_documents (generation, document_id);

	-- How many documents are in which language; '' stands for an unknown one.
	CREATE TABLE generation_languages (
		generation string NOT NULL, language string NOT NULL, documents bigint NOT NULL, PRIMARY KEY (generation, language)
	);

	-- term_count: of the title twice and of the body.
	CREATE TABLE chunks (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, generation string NOT NULL, document bigint NOT NULL,
		position bigint NOT NULL, text string NOT NULL, heading_path string NOT NULL, page bigint, title_terms string NOT NULL,
		body_terms string NOT NULL, term_count bigint NOT NULL
	);
	CREATE INDEX chunks_by_generation ON chunks (generation, id);
	CREATE UNIQUE INDEX chunks_by_position ON chunks (document, position);

	-- embedding: one signed byte for each value. change: the change of the generation that wrote it.
	CREATE TABLE vectors (
		basis string NOT NULL, chunk bigint NOT NULL, change bigint NOT NULL, embedding bytea NOT NULL, PRIMARY KEY (basis, chunk)
	);
	ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;
	CREATE UNIQUE INDEX vectors_by_change ON vectors (basis, change, chunk);

	-- Dropped generations and bases, whose rows are removed later, in portions.
	CREATE TABLE dropped_indexes (id string PRIMARY KEY, is_basis boolean NOT NULL);

	-- The chunks of a generation from the first to the last id were of one document, and are removed.
	CREATE TABLE removed_chunks (
		generation string NOT NULL, change bigint NOT NULL, first_chunk bigint NOT NULL, last_chunk bigint NOT NULL,
		PRIMARY KEY (generation, change)
	);
`;
