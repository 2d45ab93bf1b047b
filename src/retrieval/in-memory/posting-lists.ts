import { grown } from './grown.ts';

/** The binary logarithm of the room of a new list. Most terms are rare. */
const FIRST_SIZE = 1;
/** Postings in a new index. */
const FIRST_POSTINGS = 1024;
/** A larger frequency is stored as this one. No chunk is so long. */
const MAX_FREQUENCY = 0xffff;

/**
 * The postings of each term: the rows that have it, ascending, and how often each has it. All lists lie in the same two arrays. A list is
 * contiguous and has room for a power of two; a list that is full moves, and its place is used again.
 */
export class PostingLists {
	/** By place. */
	rows = new Uint32Array(FIRST_POSTINGS);
	frequencies = new Uint16Array(FIRST_POSTINGS);
	/** By term: the first place of its list, the number of its postings, and the binary logarithm of its room. */
	#starts = new Uint32Array(FIRST_POSTINGS);
	#counts = new Uint32Array(FIRST_POSTINGS);
	#sizes = new Uint8Array(FIRST_POSTINGS);
	#terms = 0;
	/** The first place that no list has used. */
	#end = 0;
	/** Places that lists have left, by the binary logarithm of their room. */
	readonly #free: number[][] = [];

	/** The number of terms. Terms are numbered from 0. */
	get terms(): number {
		return this.#terms;
	}

	/** The memory in bytes. */
	get bytes(): number {
		const { rows, frequencies } = this;
		return [rows, frequencies, this.#starts, this.#counts, this.#sizes].reduce(
			(sum, array) => sum + array.byteLength,
			0,
		);
	}

	/** The place of a term's first posting. */
	startOf(term: number): number {
		return this.#starts[term] as number;
	}

	/** The number of a term's postings. */
	countOf(term: number): number {
		return this.#counts[term] as number;
	}

	/** @returns the number of the new term */
	addTerm(): number {
		const term = this.#terms++;
		if (term === this.#starts.length) {
			this.#starts = grown(this.#starts, term + 1);
			this.#counts = grown(this.#counts, term + 1);
			this.#sizes = grown(this.#sizes, term + 1);
		}
		this.#starts[term] = this.#allocate(FIRST_SIZE);
		this.#counts[term] = 0;
		this.#sizes[term] = FIRST_SIZE;
		return term;
	}

	/** Adds occurrences of a term in a row. No later row of the term may be there. */
	add(term: number, row: number, frequency: number): void {
		const count = this.#counts[term] as number;
		const last = (this.#starts[term] as number) + count - 1;
		if (count > 0 && this.rows[last] === row) {
			this.frequencies[last] = Math.min(MAX_FREQUENCY, (this.frequencies[last] as number) + frequency);
			return;
		}
		if (count === 1 << (this.#sizes[term] as number)) this.#move(term, count);
		const place = (this.#starts[term] as number) + count;
		this.rows[place] = row;
		this.frequencies[place] = Math.min(MAX_FREQUENCY, frequency);
		this.#counts[term] = count + 1;
	}

	/** The place of the posting of a term in a row; -1: the row does not have the term. */
	find(term: number, row: number): number {
		let from = this.#starts[term] as number;
		const end = from + (this.#counts[term] as number);
		let to = end;
		while (from < to) {
			const middle = (from + to) >>> 1;
			if ((this.rows[middle] as number) < row) from = middle + 1;
			else to = middle;
		}
		return from < end && this.rows[from] === row ? from : -1;
	}

	/** Moves a full list to a place with room for twice as many. */
	#move(term: number, count: number): void {
		const size = this.#sizes[term] as number;
		const before = this.#starts[term] as number;
		const start = this.#allocate(size + 1);
		this.rows.copyWithin(start, before, before + count);
		this.frequencies.copyWithin(start, before, before + count);
		this.#starts[term] = start;
		this.#sizes[term] = size + 1;
		this.#freeOf(size).push(before);
	}

	#allocate(size: number): number {
		const free = this.#freeOf(size).pop();
		if (free !== undefined) return free;
		const start = this.#end;
		this.#end += 1 << size;
		if (this.#end > this.rows.length) {
			this.rows = grown(this.rows, this.#end);
			this.frequencies = grown(this.frequencies, this.#end);
		}
		return start;
	}

	#freeOf(size: number): number[] {
		let free = this.#free[size];
		if (free === undefined) {
			free = [];
			this.#free[size] = free;
		}
		return free;
	}
}
