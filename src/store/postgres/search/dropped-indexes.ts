import type { Sql } from '../sql.ts';

/**
 * The tables with rows of a generation or basis. The first column names it, and an index has its rows in the order of the second.
 * Large knowledge bases have hundreds of thousands: to remove them at once could take longer than a statement may.
 */
const TABLES = {
	basis: [['vectors', 'basis', 'chunk']],
	generation: [
		['chunks', 'generation', 'id'],
		['indexed_documents', 'generation', 'document_id'],
		['removed_chunks', 'generation', 'change'],
		['generation_languages', 'generation', 'language'],
	],
} as const;

interface Dropped {
	id: string;
	is_basis: boolean;
}

/** Removes rows of a dropped generation or basis, at most `limit` of each kind. What another node removes now is left out. */
export async function eraseDroppedIndexes(sql: Sql, limit: number): Promise<void> {
	const dropped = await sql.get<Dropped>('SELECT id, is_basis FROM dropped_indexes LIMIT 1 FOR UPDATE SKIP LOCKED');
	if (dropped !== undefined) await erase(sql, dropped, limit);
}

/** Removes what remains of a dropped generation or basis whose id is used again. */
export async function eraseDropped(sql: Sql, id: string): Promise<void> {
	const dropped = await sql.get<Dropped>('SELECT id, is_basis FROM dropped_indexes WHERE id = @id FOR UPDATE', { id });
	if (dropped !== undefined) await erase(sql, dropped, null);
}

/** @param limit null: all rows */
async function erase(sql: Sql, { id, is_basis }: Dropped, limit: number | null): Promise<void> {
	let isEmpty = true;
	for (const [table, owner, key] of TABLES[is_basis ? 'basis' : 'generation']) {
		const removed = await sql.run(
			`DELETE FROM ${table} WHERE ${owner} = @id AND ${key} = ANY(ARRAY(
				SELECT ${key} FROM ${table} WHERE ${owner} = @id ORDER BY ${key} LIMIT @limit
			))`,
			{ id, limit },
		);
		isEmpty &&= limit === null || removed < limit;
	}
	if (isEmpty) await sql.run('DELETE FROM dropped_indexes WHERE id = @id', { id });
}

/** Whether `eraseDroppedIndexes` would remove any. */
export async function hasDroppedIndexes(sql: Sql): Promise<boolean> {
	return (await sql.get('SELECT 1 FROM dropped_indexes LIMIT 1')) !== undefined;
}
