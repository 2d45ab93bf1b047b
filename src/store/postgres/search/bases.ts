import type { IndexWrite } from '../../search-index.ts';
import type { Sql } from '../sql.ts';
import { eraseDropped } from './dropped-indexes.ts';
import { requireChange } from './generations.ts';

type WriteOf<Op extends IndexWrite['op']> = Extract<IndexWrite, { op: Op }>;

export async function openBasis(sql: Sql, write: WriteOf<'index.open_basis'>): Promise<void> {
	const { generation, basis, dimensions, trained_on, model, floor = 0, sample = null } = write;
	if (!Number.isInteger(dimensions) || dimensions < 1) throw new Error('A basis needs a whole number of dimensions.');
	await requireChange(sql, generation);
	await eraseDropped(sql, basis);
	await sql.run(
		`INSERT INTO bases (id, generation, dimensions, trained_on, model, floor, sample)
		 VALUES (@basis, @generation, @dimensions, @trained_on, @model, @floor, @sample)`,
		{ basis, generation, dimensions, trained_on, model, floor, sample },
	);
}

export async function addVectors(sql: Sql, { basis, chunk_ids, vectors }: WriteOf<'index.add_vectors'>): Promise<void> {
	// The generation is locked before the basis, as everywhere.
	const owner = await sql.get<{ generation: string }>('SELECT generation FROM bases WHERE id = @basis', { basis });
	const change = owner === undefined ? 0 : await requireChange(sql, owner.generation);
	const found = await sql.get<{ dimensions: number }>('SELECT dimensions FROM bases WHERE id = @basis', { basis });
	if (owner === undefined || found === undefined) throw new Error(`There is no basis ${basis}.`);
	const { dimensions } = found;
	requireRows(vectors, chunk_ids.length, dimensions);
	// After a crash between two commits of one training the same vectors are written again.
	await sql.run(
		`WITH embedded AS (
			INSERT INTO vectors (basis, chunk, change, embedding)
			SELECT DISTINCT ON (c.id) @basis, c.id, @change::bigint,
				substring(@vectors::bytea FROM ((given.number - 1) * @dimensions + 1)::int FOR @dimensions::int)
			FROM unnest(@chunk_ids::bigint[]) WITH ORDINALITY AS given (id, number)
			JOIN chunks c ON c.id = given.id AND c.generation = @generation ORDER BY c.id, given.number DESC
			ON CONFLICT (basis, chunk) DO UPDATE SET change = excluded.change, embedding = excluded.embedding
		)
		UPDATE bases SET embedded_to = greatest(embedded_to, (SELECT max(id) FROM unnest(@chunk_ids::bigint[]) AS id))
		WHERE id = @basis`,
		{ basis, generation: owner.generation, change, chunk_ids, vectors, dimensions },
	);
}

export async function serveBasis(sql: Sql, { generation, basis }: WriteOf<'index.serve_basis'>): Promise<void> {
	await requireChange(sql, generation);
	const served = await sql.run(
		`UPDATE generations SET basis = @basis
		 WHERE id = @generation AND EXISTS (SELECT 1 FROM bases WHERE id = @basis AND generation = @generation)`,
		{ generation, basis },
	);
	if (served === 0) throw new Error(`Generation ${generation} has no basis ${basis}.`);
	await dropUnservedBases(sql, generation);
}

export async function dropUnservedBases(sql: Sql, generation: string): Promise<void> {
	// The lock: what another transaction adds to a basis must be seen by the statement that drops it.
	await sql.run('SELECT 1 FROM generations WHERE id = @generation FOR UPDATE', { generation });
	await sql.run(
		`WITH dropped AS (
			DELETE FROM bases USING generations g
			WHERE bases.generation = @generation AND g.id = @generation AND bases.id IS DISTINCT FROM g.basis RETURNING bases.id
		)
		INSERT INTO dropped_indexes SELECT id, true FROM dropped`,
		{ generation },
	);
}

/** @throws Error when concatenated vectors are not `count` rows */
export function requireRows(vectors: Int8Array, count: number, dimensions: number): void {
	if (vectors.length !== count * dimensions) {
		throw new Error(`${count} vectors of ${dimensions} values were expected, ${vectors.length} values came.`);
	}
}
