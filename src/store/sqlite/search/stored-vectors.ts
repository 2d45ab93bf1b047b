import type { Database } from 'better-sqlite3';
import { vectorTable } from '../search-index-tables.ts';
import { statement } from '../statements.ts';

/** Many vectors, concatenated: `dimensions` values for each id. */
export interface StoredVectors {
	dimensions: number;
	/** Row ids of chunks, in the order of the rows. */
	ids: Float64Array;
	values: Int8Array;
}

/** A chunk of rows of a vector table as sqlite-vec stores it: ids (64 bits, little-endian), and a bit for each row in use. */
interface VectorChunkRow {
	id: number;
	rowids: Buffer;
	validity: Buffer;
}

/**
 * Reads all vectors of a basis at once from the tables in which sqlite-vec stores them. Row-by-row reads take twenty times
 * as long, because sqlite-vec looks each row up.
 */
export function readAllVectors(db: Database, basis: string, dimensions: number): StoredVectors {
	const table = vectorTable(basis);
	const count = statement(db, `SELECT count(*) FROM ${table}_rowids`).pluck().get() as number;
	const ids = new Float64Array(count);
	const values = new Int8Array(count * dimensions);
	// No join: SQLite would look up and sort rows that are in order in both tables.
	const rowChunks = new Map(
		(statement(db, `SELECT chunk_id AS id, rowids, validity FROM ${table}_chunks`).all() as VectorChunkRow[]).map(
			(chunk) => [chunk.id, chunk],
		),
	);
	const stored = statement(db, `SELECT rowid AS id, vectors FROM ${table}_vector_chunks00`).iterate();
	let row = 0;
	for (const { id, vectors } of stored as IterableIterator<{ id: number; vectors: Buffer }>) {
		const { rowids, validity } = rowChunks.get(id) ?? NO_ROWS;
		const rows = rowids.length / 8;
		for (let at = 0; at < rows; ) {
			if (!isUsed(validity, at)) {
				at++;
				continue;
			}
			// In most chunks all rows in use are adjacent.
			const from = at;
			for (; at < rows && isUsed(validity, at); at++) {
				ids[row + at - from] = rowids.readUInt32LE(8 * at) + 2 ** 32 * rowids.readInt32LE(8 * at + 4);
			}
			values.set(vectors.subarray(from * dimensions, at * dimensions), row * dimensions);
			row += at - from;
		}
	}
	if (row !== count) throw new Error(`Basis ${basis} has ${row} vectors, ${count} were expected.`);
	return { dimensions, ids, values };
}

const NO_ROWS = { rowids: Buffer.alloc(0), validity: Buffer.alloc(0) };

function isUsed(validity: Buffer, at: number): boolean {
	return ((validity[at >> 3] as number) & (1 << (at & 7))) !== 0;
}
