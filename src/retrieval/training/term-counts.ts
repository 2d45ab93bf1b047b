import { type ChunkTerms, countTerms } from '../semantic/features.ts';

/** The term counts of many chunks in typed arrays: a map for each chunk would take many times the memory. */
export interface TermCounts {
	/** The number of chunks. */
	chunks: number;
	/** All terms; entries refer to them by index. */
	terms: string[];
	/** Chunk c has the entries from `starts[c]` to `starts[c + 1]`. */
	starts: Uint32Array;
	/** The term index of each entry. A chunk's terms are in the order of their first occurrence. */
	termIndexes: Uint32Array;
	/** The count of the term in the chunk. */
	counts: Uint32Array;
}

/** The initial number of entries; it doubles when it is full. */
const INITIAL_CAPACITY = 1024;

/** Counts the terms of every `step`th chunk. A fractional step samples evenly. */
export function countTermsOfChunks(chunks: readonly ChunkTerms[], step: number): TermCounts {
	const indexOf = new Map<string, number>();
	const starts = [0];
	let indexes = new Uint32Array(INITIAL_CAPACITY);
	let counts = new Uint32Array(INITIAL_CAPACITY);
	let entries = 0;
	for (let at = 0; at < chunks.length; at += step) {
		for (const [term, count] of countTerms(chunks[Math.floor(at)] as ChunkTerms)) {
			if (entries === indexes.length) {
				indexes = grow(indexes);
				counts = grow(counts);
			}
			let index = indexOf.get(term);
			if (index === undefined) {
				index = indexOf.size;
				indexOf.set(term, index);
			}
			indexes[entries] = index;
			counts[entries++] = count;
		}
		starts.push(entries);
	}
	return {
		chunks: starts.length - 1,
		terms: [...indexOf.keys()],
		starts: Uint32Array.from(starts),
		termIndexes: indexes.subarray(0, entries),
		counts: counts.subarray(0, entries),
	};
}

function grow(values: Uint32Array): Uint32Array<ArrayBuffer> {
	const larger = new Uint32Array(2 * values.length);
	larger.set(values);
	return larger;
}
