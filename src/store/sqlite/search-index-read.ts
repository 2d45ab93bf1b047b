import type { Database } from 'better-sqlite3';
import type { DocumentRecord } from '../records.ts';
import type {
	DocumentCoverage,
	Generation,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from '../search-index.ts';
import type { ListPosition } from '../store.ts';
import { statement } from './search-index-tables.ts';
import { columnsOf, decodeRow } from './tables.ts';

const GENERATION = `SELECT g.id, g.knowledge_base_id, g.embedder, g.basis, b.dimensions, coalesce(b.trained_on, 0) AS trained_on, g.chunk_count
	FROM generations g LEFT JOIN bases b ON b.id = g.basis`;

/** What is known of a generation, undefined where there is none of that id. */
export function generationOf(db: Database, id: string): Generation | undefined {
	return statement(db, `${GENERATION} WHERE g.id = ?`).get(id) as Generation | undefined;
}

/** What is known of the generation that serves a knowledge base, read at once with which one that is. */
export function servingGenerationOf(db: Database, knowledgeBaseId: string): Generation | undefined {
	const sql = `${GENERATION} WHERE g.id = (SELECT generation FROM knowledge_bases WHERE id = ?)`;
	return statement(db, sql).get(knowledgeBaseId) as Generation | undefined;
}

/** A document's chunks in reading order, after a position in it, read at once with which generation serves. */
export function servingChunksOf(
	db: Database,
	knowledgeBaseId: string,
	documentId: string,
	after: number,
	limit: number,
): StoredChunk[] {
	const rows = statement(
		db,
		`SELECT c.id, d.document_id, c.position, c.text, c.heading_path, c.page
		 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
		 WHERE d.generation = (SELECT generation FROM knowledge_bases WHERE id = ?) AND d.document_id = ?
		 AND c.position > ? ORDER BY c.position LIMIT ?`,
	).all(knowledgeBaseId, documentId, after, limit) as Array<StoredChunk & { heading_path: string }>;
	return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
}

const DOCUMENT = columnsOf('documents')
	.map((column) => `doc.${column}`)
	.join(', ');

/** Documents of a knowledge base, the oldest first, beside what a generation that is being built has of them. */
export function coverageOf(
	db: Database,
	knowledgeBaseId: string,
	generation: string,
	after: ListPosition | undefined,
	limit: number,
): DocumentCoverage[] {
	// The generation's row counts where there is one, also where it does not say of which version it was made.
	const rows = statement(
		db,
		`SELECT ${DOCUMENT}, iif(built.seq IS NULL, NULL, coalesce(built.built_from, 0)) AS built_from
		 FROM documents doc LEFT JOIN indexed_documents built ON built.generation = ? AND built.document_id = doc.id
		 WHERE doc.knowledge_base_id = ? AND (doc.created_at, doc.id) > (?, ?)
		 ORDER BY doc.created_at, doc.id LIMIT ?`,
	).all(generation, knowledgeBaseId, after?.at ?? 0, after?.id ?? '', limit) as Array<
		DocumentRecord & { built_from: number | null }
	>;
	return rows.map(({ built_from, ...row }) => ({ document: decodeRow('documents', row), built_from }));
}

/** The terms of a generation's chunks that were stored after this one, in the order in which they were. */
export function termsAfter(db: Database, generation: string, chunkId: number, limit: number): StoredTerms[] {
	return statement(
		db,
		`SELECT c.id, c.title_terms, c.body_terms FROM chunks c CROSS JOIN indexed_documents d
		 WHERE c.id > ? AND d.seq = c.document AND d.generation = ? ORDER BY c.id LIMIT ?`,
	).all(chunkId, generation, limit) as StoredTerms[];
}

/** The basis of a generation that was opened last, whether it serves or not; undefined where there is none. */
export function openedBasisOf(db: Database, generation: string): OpenedBasis | undefined {
	const sql = 'SELECT id, dimensions, embedded_to FROM bases WHERE generation = ? ORDER BY rowid DESC LIMIT 1';
	return statement(db, sql).get(generation) as OpenedBasis | undefined;
}

/** The sample that a basis was opened with; undefined where there is none, or no such basis. */
export function sampleOf(db: Database, basis: string): Int8Array | undefined {
	const sql = 'SELECT sample FROM bases WHERE id = ?';
	const bytes = statement(db, sql).pluck().get(basis) as Buffer | null | undefined;
	return bytes ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : undefined;
}

/** What a generation's chunks say that were stored after this one, in the order in which they were. */
export function textsAfter(db: Database, generation: string, chunkId: number, limit: number): StoredText[] {
	const rows = statement(
		db,
		`SELECT c.id, d.title, c.heading_path, c.text FROM chunks c CROSS JOIN indexed_documents d
		 WHERE c.id > ? AND d.seq = c.document AND d.generation = ? ORDER BY c.id LIMIT ?`,
	).all(chunkId, generation, limit) as Array<StoredText & { heading_path: string }>;
	return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
}
