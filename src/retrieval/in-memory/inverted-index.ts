import { BestChunks, type ScoredChunk } from './best-chunks.ts';
import { grown } from './grown.ts';
import { PostingLists } from './posting-lists.ts';
import { Vocabulary } from './vocabulary.ts';

/** The parameters of BM25 in FTS5: the saturation of a repeated term, and the share of the length in the score. */
const K1 = 1.2;
const B = 0.75;
/** The weight of a term that half of the chunks have, or more. */
const MIN_IDF = 1e-6;

/** The weight of a term in the title, relative to the body. */
const TITLE_WEIGHT = 2;

/** Removed rows are given up when they are this share of all, and at least so many. */
const MAX_REMOVED_SHARE = 0.2;
const MIN_REMOVED = 256;

const FIRST_ROWS = 256;

/** What BM25 compares a chunk with. */
export interface CollectionTotals {
	/** The number of chunks. */
	chunks: number;
	/** The number of all their terms. A term of a title counts twice. */
	terms: number;
}

/** The full text of a generation: the chunks of each term, with BM25 as SQLite's FTS5 computes it. */
export class InvertedIndex {
	#vocabulary = new Vocabulary();
	#postings = new PostingLists();
	#rows = 0;
	#removed = 0;
	/** By row, ascending. */
	#ids = new Float64Array(FIRST_ROWS);
	#lengths = new Uint32Array(FIRST_ROWS);
	#isRemoved = new Uint8Array(FIRST_ROWS);
	/** The score of each row in a search; 0 between searches. */
	#scores = new Float64Array(FIRST_ROWS);

	/** The memory in bytes, about. */
	get bytes(): number {
		const arrays = [this.#ids, this.#lengths, this.#isRemoved, this.#scores];
		return arrays.reduce((sum, array) => sum + array.byteLength, this.#postings.bytes + this.#vocabulary.bytes);
	}

	/** The id of the last chunk that was added; 0 for none. */
	get lastId(): number {
		return this.#rows === 0 ? 0 : (this.#ids[this.#rows - 1] as number);
	}

	/** Adds a chunk. Its id must be larger than the ids of all others. Terms are separated by spaces. */
	add(id: number, titleTerms: string, bodyTerms: string): void {
		const row = this.#rows;
		if (row === this.#ids.length) {
			this.#ids = grown(this.#ids, row + 1);
			this.#lengths = grown(this.#lengths, row + 1);
			this.#isRemoved = grown(this.#isRemoved, row + 1);
			this.#scores = grown(this.#scores, row + 1);
		}
		this.#rows++;
		this.#ids[row] = id;
		this.#lengths[row] = this.#addTerms(row, titleTerms, TITLE_WEIGHT) + this.#addTerms(row, bodyTerms, 1);
		this.#isRemoved[row] = 0;
	}

	/** Removes the chunks with ids from `first` to `last`, and returns their ids. */
	remove(first: number, last: number): number[] {
		const ids: number[] = [];
		for (let row = this.#firstRowFrom(first); row < this.#rows && (this.#ids[row] as number) <= last; row++) {
			if (this.#isRemoved[row] === 1) continue;
			this.#isRemoved[row] = 1;
			ids.push(this.#ids[row] as number);
		}
		this.#removed += ids.length;
		if (this.#removed >= MIN_REMOVED && this.#removed > MAX_REMOVED_SHARE * this.#rows) this.compact();
		return ids;
	}

	/** Frees memory: that of removed chunks, of terms that no other chunk has, and what was reserved for more postings. */
	compact(): void {
		const before = this.#postings;
		let count = 0;
		for (let term = 0; term < before.terms; term++) count += this.#documentFrequency(term);
		const postings = new PostingLists(count, before.terms);
		const vocabulary = new Vocabulary();
		const rowAfter = this.#rowsAfterRemovals();
		for (let term = 0; term < before.terms; term++) {
			const frequency = this.#documentFrequency(term);
			if (frequency === 0) continue;
			const added = postings.addTerm(frequency);
			vocabulary.addAll(this.#vocabulary.term(term), () => {});
			const start = before.startOf(term);
			for (let at = start; at < start + before.countOf(term); at++) {
				const row = before.rows[at] as number;
				if (this.#isRemoved[row] === 0) postings.add(added, rowAfter[row] as number, before.frequencies[at] as number);
			}
		}
		this.#postings = postings;
		this.#vocabulary = vocabulary;
		this.#dropRemovedRows();
	}

	/** How many chunks have a term. */
	documentFrequency(term: string): number {
		const number = this.#vocabulary.find(term);
		return number === -1 ? 0 : this.#documentFrequency(number);
	}

	/** Whether a chunk has a term. */
	has(id: number, term: string): boolean {
		const number = this.#vocabulary.find(term);
		const row = this.#rowOf(id);
		return number !== -1 && row !== -1 && this.#postings.find(number, row) !== -1;
	}

	/** Whether there is a chunk with this id. */
	hasChunk(id: number): boolean {
		return this.#rowOf(id) !== -1;
	}

	/** The chunks that have any of the terms, best first. A repeated term counts again. */
	search(terms: readonly string[], limit: number, totals: CollectionTotals): ScoredChunk[] {
		const found: number[] = [];
		for (const term of terms) {
			const number = this.#vocabulary.find(term);
			if (number !== -1) this.#addScores(number, totals, found);
		}
		const best = new BestChunks(limit);
		for (const row of found) {
			best.add(this.#ids[row] as number, this.#scores[row] as number);
			this.#scores[row] = 0;
		}
		return best.chunks;
	}

	/** Adds the scores of one term. The order of the operations is that of FTS5, so that sums are rounded in the same way. */
	#addScores(term: number, totals: CollectionTotals, found: number[]): void {
		const frequency = this.#documentFrequency(term);
		const rarity = Math.log((totals.chunks - frequency + 0.5) / (frequency + 0.5));
		const idf = rarity <= 0 ? MIN_IDF : rarity;
		const meanLength = totals.terms / totals.chunks;
		const { rows, frequencies } = this.#postings;
		const [scores, lengths, isRemoved] = [this.#scores, this.#lengths, this.#isRemoved];
		const start = this.#postings.startOf(term);
		const end = start + this.#postings.countOf(term);
		for (let at = start; at < end; at++) {
			const row = rows[at] as number;
			if (isRemoved[row] === 1) continue;
			const count = frequencies[at] as number;
			const length = lengths[row] as number;
			if (scores[row] === 0) found.push(row);
			(scores[row] as number) += idf * ((count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / meanLength)));
		}
	}

	#documentFrequency(term: number): number {
		const count = this.#postings.countOf(term);
		if (this.#removed === 0) return count;
		const { rows } = this.#postings;
		const start = this.#postings.startOf(term);
		let removed = 0;
		for (let at = start; at < start + count; at++) removed += this.#isRemoved[rows[at] as number] as number;
		return count - removed;
	}

	/** @returns the number of terms, each as often as it counts */
	#addTerms(row: number, terms: string, weight: number): number {
		let length = 0;
		this.#vocabulary.addAll(terms, (term) => {
			if (term === this.#postings.terms) this.#postings.addTerm();
			this.#postings.add(term, row, weight);
			length += weight;
		});
		return length;
	}

	/** The row of a chunk; -1 when it is not there. */
	#rowOf(id: number): number {
		const row = this.#firstRowFrom(id);
		return row < this.#rows && this.#ids[row] === id && this.#isRemoved[row] === 0 ? row : -1;
	}

	#firstRowFrom(id: number): number {
		let from = 0;
		let to = this.#rows;
		while (from < to) {
			const middle = (from + to) >>> 1;
			if ((this.#ids[middle] as number) < id) from = middle + 1;
			else to = middle;
		}
		return from;
	}

	/** The number of each row when removed rows are dropped. */
	#rowsAfterRemovals(): Uint32Array {
		const rowAfter = new Uint32Array(this.#rows);
		for (let row = 0, kept = 0; row < this.#rows; row++) {
			rowAfter[row] = kept;
			if (this.#isRemoved[row] === 0) kept++;
		}
		return rowAfter;
	}

	#dropRemovedRows(): void {
		let kept = 0;
		for (let row = 0; row < this.#rows; row++) {
			if (this.#isRemoved[row] === 1) continue;
			this.#ids[kept] = this.#ids[row] as number;
			this.#lengths[kept] = this.#lengths[row] as number;
			kept++;
		}
		this.#isRemoved.fill(0);
		this.#rows = kept;
		this.#removed = 0;
	}
}
