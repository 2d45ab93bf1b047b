/** SQL: generations, each with its serving basis. A condition on `g` follows. */
export const SELECT_GENERATION = `SELECT g.id, g.knowledge_base_id, g.embedder, g.basis, b.dimensions,
	coalesce(b.trained_on, 0) AS trained_on, g.chunk_count FROM generations g LEFT JOIN bases b ON b.id = g.basis`;
