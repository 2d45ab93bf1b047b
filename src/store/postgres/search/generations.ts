import type { IndexWrite } from '../../search-index.ts';
import type { Sql } from '../sql.ts';
import { eraseDropped } from './dropped-indexes.ts';

/** Older removals are forgotten: who has an older copy of the generation in memory must load it again. */
export const KEPT_CHANGES = 10_000;

export async function openGeneration(
	sql: Sql,
	{ generation, knowledge_base_id, embedder }: Extract<IndexWrite, { op: 'index.open_generation' }>,
): Promise<void> {
	await eraseDropped(sql, generation);
	await sql.run(
		`INSERT INTO generations (id, knowledge_base_id, embedder) VALUES (@generation, @knowledge_base_id, @embedder)`,
		{ generation, knowledge_base_id, embedder },
	);
}

/**
 * Begins a change of a generation: others wait until the transaction ends.
 * @returns the number of the change; undefined when there is no such generation
 */
export async function beginChange(sql: Sql, generation: string): Promise<number | undefined> {
	const row = await sql.get<{ changes: number }>(
		'UPDATE generations SET changes = changes + 1 WHERE id = @generation RETURNING changes',
		{ generation },
	);
	return row?.changes;
}

/** As `beginChange`. @throws Error when there is no such generation */
export async function requireChange(sql: Sql, generation: string): Promise<number> {
	const change = await beginChange(sql, generation);
	if (change === undefined) throw new Error(`There is no generation ${generation}.`);
	return change;
}

export async function dropGeneration(sql: Sql, generation: string): Promise<void> {
	await drop(sql, await lock(sql, 'id = @id', { id: generation }));
}

/** Drops every generation of a knowledge base, including a generation that is being built. */
export async function dropGenerationsOf(sql: Sql, knowledgeBaseId: string): Promise<void> {
	await drop(sql, await lock(sql, 'knowledge_base_id = @id', { id: knowledgeBaseId }));
}

/** A statement of its own: the statement that deletes must see what the transaction before has written. */
async function lock(sql: Sql, condition: string, values: { id: string }): Promise<string[]> {
	const rows = await sql.all<{ id: string }>(
		`SELECT id FROM generations WHERE ${condition} ORDER BY id FOR UPDATE`,
		values,
	);
	return rows.map(({ id }) => id);
}

async function drop(sql: Sql, ids: readonly string[]): Promise<void> {
	if (ids.length === 0) return;
	await sql.run(
		`WITH bases_of_generations AS (DELETE FROM bases WHERE generation = ANY(@ids) RETURNING id),
		 removed AS (DELETE FROM generations WHERE id = ANY(@ids) RETURNING id)
		 INSERT INTO dropped_indexes SELECT id, true FROM bases_of_generations UNION ALL SELECT id, false FROM removed`,
		{ ids },
	);
}
