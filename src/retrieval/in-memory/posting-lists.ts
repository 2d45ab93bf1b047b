import { grown } from './grown.ts';

/** The room of a new list. Most terms are rare. */
const FIRST_ROOM = 2;
/** Postings and terms in a new index. */
const FIRST_LENGTH = 1024;
/** A larger frequency is stored as this one. No chunk is so long. */
const MAX_FREQUENCY = 0xffff;

/**
 * The postings of each term: the rows that have it, ascending, and how often each has it. All lists lie in the same two arrays. A list is
 * contiguous. A list that is full moves to a place with room for the next power of two, and its place is used again.
 */
export class PostingLists {
	/** By place. */
	rows: Uint32Array;
	frequencies: Uint16Array;
	/** By term: the first place of its list, the number of its postings, and the number for which there is room. */
	#starts: Uint32Array;
	#counts: Uint32Array;
	#rooms: Uint32Array;
	#terms = 0;
	/** The first place that no list has used. */
	#end = 0;
	/** Places that lists have left, by the binary logarithm of their room. */
	readonly #free: number[][] = [];

	/** @param postings and terms for which memory is reserved; more are possible */
	constructor(postings = FIRST_LENGTH, terms = FIRST_LENGTH) {
		this.rows = new Uint32Array(postings);
		this.frequencies = new Uint16Array(postings);
		this.#starts = new Uint32Array(terms);
		this.#counts = new Uint32Array(terms);
		this.#rooms = new Uint32Array(terms);
	}

	/** The number of terms. Terms are numbered from 0. */
	get terms(): number {
		return this.#terms;
	}

	/** The memory in bytes. */
	get bytes(): number {
		const { rows, frequencies } = this;
		return [rows, frequencies, this.#starts, this.#counts, this.#rooms].reduce(
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

	/** Adds a term without postings. @returns its number, the next */
	addTerm(room = FIRST_ROOM): number {
		const term = this.#terms++;
		if (term === this.#starts.length) {
			this.#starts = grown(this.#starts, term + 1);
			this.#counts = grown(this.#counts, term + 1);
			this.#rooms = grown(this.#rooms, term + 1);
		}
		this.#starts[term] = this.#allocate(room);
		this.#counts[term] = 0;
		this.#rooms[term] = room;
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
		if (count === this.#rooms[term]) this.#move(term, count);
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

	/** Moves a full list to a place with more room. */
	#move(term: number, count: number): void {
		const before = this.#starts[term] as number;
		const room = 2 ** Math.floor(Math.log2(count) + 1);
		const start = this.#allocate(room);
		this.rows.copyWithin(start, before, before + count);
		this.frequencies.copyWithin(start, before, before + count);
		this.#starts[term] = start;
		this.#rooms[term] = room;
		// Places of other sizes are of a compact index, and are given up.
		if (isPowerOfTwo(count)) this.#freeOf(count).push(before);
	}

	#allocate(room: number): number {
		const free = isPowerOfTwo(room) ? this.#freeOf(room).pop() : undefined;
		if (free !== undefined) return free;
		const start = this.#end;
		this.#end += room;
		if (this.#end > this.rows.length) {
			this.rows = grown(this.rows, this.#end);
			this.frequencies = grown(this.frequencies, this.#end);
		}
		return start;
	}

	#freeOf(room: number): number[] {
		const size = Math.log2(room);
		let free = this.#free[size];
		if (free === undefined) {
			free = [];
			this.#free[size] = free;
		}
		return free;
	}
}

function isPowerOfTwo(count: number): boolean {
	return (count & (count - 1)) === 0;
}
