import type { Generation } from '../../search-index.ts';
import type { Sql } from '../sql.ts';

/** A generation with what a search needs of it. */
export interface GenerationRow extends Generation {
	/** The number of its changes. */
	changes: number;
	/** The number of all chunks that were ever added, and of their terms. */
	added_chunks: number;
	added_terms: number;
	/** Of its serving basis; 0 without one. */
	floor: number;
	/** Null without documents. */
	languages: Array<string | null> | null;
}

export function readGenerationRow(sql: Sql, id: string): Promise<GenerationRow | undefined> {
	return sql.get<GenerationRow>(
		`SELECT g.id, g.knowledge_base_id, g.embedder, g.basis, b.dimensions, coalesce(b.trained_on, 0) AS trained_on,
			g.chunk_count, g.changes, g.added_chunks, g.added_terms, coalesce(b.floor, 0) AS floor,
			(SELECT json_agg(nullif(language, '') ORDER BY documents DESC, language) FROM generation_languages
			 WHERE generation = g.id AND documents > 0) AS languages
		 FROM generations g LEFT JOIN bases b ON b.id = g.basis WHERE g.id = @id`,
		{ id },
	);
}
