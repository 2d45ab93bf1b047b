import { createHash } from 'node:crypto';
import { storable } from '../postgres/to-json.ts';

/** A value of a column, as both databases give it. */
export type Value = string | number | Buffer | null;
export type Row = Record<string, Value>;

/** A value as PostgreSQL stores it: it has no text for the character NUL and for halves of a surrogate pair. */
export function storableValue(value: Value): Value {
	return typeof value === 'string' ? storable(value) : value;
}

/** About how many bytes a row takes in memory. */
export function sizeOfRow(row: Row): number {
	let bytes = 0;
	for (const value of Object.values(row)) {
		bytes += typeof value === 'string' || value instanceof Buffer ? value.length : 8;
	}
	return bytes;
}

const MODULUS = 2n ** 64n;

/** Counts rows, and sums their hashes. Equal sets of rows have equal sums, in whatever order they come. */
export class RowChecksum {
	#rows = 0;
	#sum = 0n;

	/** @param values of all columns, in one order */
	add(values: readonly Value[]): void {
		const text = JSON.stringify(values.map((value) => (value instanceof Buffer ? [value.toString('base64')] : value)));
		this.#rows++;
		this.#sum = (this.#sum + createHash('sha256').update(text).digest().readBigUInt64BE()) % MODULUS;
	}

	end(): TableChecksum {
		return { rows: this.#rows, checksum: this.#sum.toString(16).padStart(16, '0') };
	}
}

/** What is compared of a table: the number of its rows, and the sum of their hashes in hexadecimal. */
export interface TableChecksum {
	rows: number;
	checksum: string;
}
