import type { Database } from 'better-sqlite3';
import { fullTextTable } from '../sqlite/search-index-tables.ts';

/** The row of an FTS5 index that has its totals. */
const AVERAGES_ROW = 1;

/**
 * How many chunks were ever added to the full text of a generation, and how many terms they had. FTS5 ranks by these totals, and does
 * not subtract what is removed from a table without content. It keeps them as two varints of SQLite (https://sqlite.org/fileformat2.html,
 * section 1.6): rows, and tokens of the only column.
 */
export function readFullTextTotals(db: Database, generation: string): { chunks: number; terms: number } {
	const record = db
		.prepare(`SELECT block FROM ${fullTextTable(generation)}_data WHERE id = ${AVERAGES_ROW}`)
		.pluck()
		.get() as Buffer | undefined;
	if (record === undefined || record.length === 0) return { chunks: 0, terms: 0 };
	const chunks = readVarint(record, 0);
	const terms = readVarint(record, chunks.end);
	return { chunks: chunks.value, terms: terms.value };
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
	let value = 0n;
	for (let at = start; at < bytes.length; at++) {
		const byte = bytes[at] as number;
		// The ninth byte has eight bits.
		if (at - start === 8) return { value: Number((value << 8n) | BigInt(byte)), end: at + 1 };
		value = (value << 7n) | BigInt(byte & 0x7f);
		if ((byte & 0x80) === 0) return { value: Number(value), end: at + 1 };
	}
	throw new Error('The totals of a full-text table are incomplete.');
}
