import type { Database } from 'better-sqlite3';
import type { Generation, StoredChunk } from '../search-index.ts';
import { statement } from './search-index-tables.ts';

/** What is known of a generation, undefined where there is none of that id. */
export function generationOf(db: Database, id: string): Generation | undefined {
	const row = statement(
		db,
		`SELECT g.id, g.knowledge_base_id, g.basis, coalesce(b.trained_on, 0) AS trained_on, g.chunk_count
		 FROM generations g LEFT JOIN bases b ON b.id = g.basis WHERE g.id = ?`,
	).get(id);
	return row as Generation | undefined;
}

/** A document's chunks in reading order, after a position in it. */
export function chunksOfDocument(
	db: Database,
	generation: string,
	documentId: string,
	after: number,
	limit: number,
): StoredChunk[] {
	const rows = statement(
		db,
		`SELECT c.id, d.document_id, c.position, c.text, c.heading_path, c.page
		 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
		 WHERE d.generation = ? AND d.document_id = ? AND c.position > ? ORDER BY c.position LIMIT ?`,
	).all(generation, documentId, after, limit) as Array<StoredChunk & { heading_path: string }>;
	return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
}
