import type { Generation } from '../search-index.ts';
import type { Prepare } from './statements.ts';

/** SQL: generations, each with its serving basis. A condition on `g` follows. */
export const SELECT_GENERATION = `SELECT g.id, g.knowledge_base_id, g.embedder, g.basis, b.dimensions, coalesce(b.trained_on, 0) AS trained_on, g.chunk_count
	FROM generations g LEFT JOIN bases b ON b.id = g.basis`;

/** A generation; undefined when none has this id. */
export function generationOf(prepare: Prepare, id: string): Generation | undefined {
	return prepare(`${SELECT_GENERATION} WHERE g.id = ?`).get(id) as Generation | undefined;
}
