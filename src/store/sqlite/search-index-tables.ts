import type { Database } from 'better-sqlite3';

/**
 * The tables that all generations share. Each generation also has its own full-text table, and each basis its own vector
 * table, so that a search reads nothing of other knowledge bases and a generation can be dropped whole. Ids of chunks are
 * never reused: a vector computed for a removed chunk must not become the vector of another one.
 */
export const SEARCH_INDEX_SCHEMA = `
	CREATE TABLE generations (
		id TEXT PRIMARY KEY, knowledge_base_id TEXT NOT NULL, basis TEXT, chunk_count INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;

	CREATE TABLE bases (
		id TEXT PRIMARY KEY, generation TEXT NOT NULL, dimensions INTEGER NOT NULL, trained_on INTEGER NOT NULL, model BLOB NOT NULL
	) STRICT;
	CREATE INDEX bases_by_generation ON bases (generation);

	CREATE TABLE indexed_documents (
		seq INTEGER PRIMARY KEY, generation TEXT NOT NULL, document_id TEXT NOT NULL, title TEXT NOT NULL, url TEXT, language TEXT
	) STRICT;
	CREATE UNIQUE INDEX indexed_documents_by_id ON indexed_documents (generation, document_id);

	-- How many documents are in which language; '' stands for an unknown one.
	CREATE TABLE generation_languages (
		generation TEXT NOT NULL, language TEXT NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (generation, language)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE chunks (
		id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
		heading_path TEXT NOT NULL, page INTEGER, title_terms TEXT NOT NULL, body_terms TEXT NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX chunks_by_position ON chunks (document, position);
`;

/** What a rebuild records of each document in the generation that it builds. */
export const SEARCH_INDEX_REBUILD = `
	ALTER TABLE indexed_documents ADD COLUMN built_from INTEGER;
	ALTER TABLE indexed_documents ADD COLUMN page_count INTEGER;
	CREATE INDEX generations_by_knowledge_base ON generations (knowledge_base_id);
`;

/** The embedder of a generation, and the progress of a basis. */
export const SEARCH_INDEX_EMBEDDERS = `
	ALTER TABLE generations ADD COLUMN embedder TEXT NOT NULL DEFAULT 'builtin';
	ALTER TABLE bases ADD COLUMN floor REAL NOT NULL DEFAULT 0;
	ALTER TABLE bases ADD COLUMN embedded_to INTEGER NOT NULL DEFAULT 0;
`;

/** The vector by which a provider's model is recognised. */
export const SEARCH_INDEX_SAMPLES = 'ALTER TABLE bases ADD COLUMN sample BLOB;';

/** A count of changes, which shows that cached vectors of a generation are stale. */
export const SEARCH_INDEX_CHANGES = 'ALTER TABLE generations ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;';

const HAS_LANGUAGES = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'generation_languages'";

/**
 * Makes the table of languages if it is missing: databases of a very early build ran the schema step before it had this
 * table. The rows are counted from the documents.
 */
export function repairLanguages(db: Database): void {
	if (db.prepare(HAS_LANGUAGES).get() !== undefined) return;
	db.exec(`
		CREATE TABLE generation_languages (
			generation TEXT NOT NULL, language TEXT NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (generation, language)
		) STRICT, WITHOUT ROWID;
		INSERT INTO generation_languages (generation, language, documents)
		SELECT generation, coalesce(language, ''), count(*) FROM indexed_documents
		WHERE EXISTS (SELECT 1 FROM chunks WHERE chunks.document = indexed_documents.seq) GROUP BY 1, 2;
	`);
}

const ID = /^[a-z0-9_]{1,100}$/;

/** The full-text table of a generation. */
export function fullTextTable(generation: string): string {
	return `fts_${requireIdentifier(generation)}`;
}

/** The table of all terms in a generation's full text, with the number of chunks of each. */
export function termsTable(generation: string): string {
	return `terms_${requireIdentifier(generation)}`;
}

/** The vector table of a basis. */
export function vectorTable(basis: string): string {
	return `vec_${requireIdentifier(basis)}`;
}

/** Table names are part of the SQL text: nothing but an identifier may become one. */
function requireIdentifier(id: string): string {
	if (!ID.test(id)) throw new Error(`${JSON.stringify(id)} cannot name a part of the search index.`);
	return id;
}
