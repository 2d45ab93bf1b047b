import { dropGenerationsOf } from './search/index.ts';
import type { Sql } from './sql.ts';

/**
 * Removes a knowledge base with its sources and documents, and every job about any of them; see the write `erase_knowledge_base`. A
 * transaction that adds to a record has locked it: the statements after the removal of the record see what was added.
 */
export async function eraseKnowledgeBase(sql: Sql, id: string): Promise<void> {
	await sql.run('DELETE FROM knowledge_bases WHERE id = @id', { id });
	const sources = await removeFrom(sql, 'sources', id);
	await sql.run('DELETE FROM source_pages WHERE source_id = ANY(@sources)', { sources });
	const documents = await removeFrom(sql, 'documents', id);
	await sql.run('DELETE FROM jobs WHERE ref = ANY(@refs)', { refs: [id, ...sources, ...documents] });
	await dropGenerationsOf(sql, id);
}

/** Removes the records of a knowledge base. @returns their ids */
async function removeFrom(sql: Sql, kind: 'sources' | 'documents', knowledgeBaseId: string): Promise<string[]> {
	const rows = await sql.all<{ id: string }>(`DELETE FROM ${kind} WHERE knowledge_base_id = @id RETURNING id`, {
		id: knowledgeBaseId,
	});
	return rows.map(({ id }) => id);
}
