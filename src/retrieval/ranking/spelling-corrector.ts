/** Shorter words have too many similar words of another meaning; so have numbers. */
const MIN_LENGTH = 5;
/** From this length on, two errors are corrected. */
const TWO_EDITS_LENGTH = 9;
const DIGIT = /\p{N}/u;

/** Finds the known term that is most similar to an unknown word. */
export class SpellingCorrector {
	/** Terms by first letter: errors in it are rare, and the search stays short. */
	readonly #byInitial = new Map<string, string[]>();

	/** @param vocabulary all terms, the most frequent first */
	constructor(vocabulary: Iterable<string>) {
		for (const term of vocabulary) {
			if (term.length < MIN_LENGTH || DIGIT.test(term)) continue;
			const initial = term[0] as string;
			const same = this.#byInitial.get(initial);
			if (same === undefined) this.#byInitial.set(initial, [term]);
			else same.push(term);
		}
	}

	/** The nearest known term, the most frequent of equally near ones; null if none is near. */
	nearest(word: string): string | null {
		if (word.length < MIN_LENGTH || DIGIT.test(word)) return null;
		let allowed = word.length >= TWO_EDITS_LENGTH ? 2 : 1;
		let best: string | null = null;
		for (const term of this.#byInitial.get(word[0] as string) ?? []) {
			if (Math.abs(term.length - word.length) > allowed) continue;
			const distance = editDistance(word, term, allowed);
			if (distance > allowed) continue;
			best = term;
			// Only a nearer term can replace it.
			allowed = distance - 1;
			if (allowed === 0) break;
		}
		return best;
	}
}

/**
 * The number of insertions, deletions, replacements and transpositions that turn one word into the other (optimal string
 * alignment distance); any number above `limit` if it is larger than `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
	let twoAbove: number[] = [];
	let above = Array.from({ length: b.length + 1 }, (_, j) => j);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		let least = i;
		for (let j = 1; j <= b.length; j++) {
			const same = a[i - 1] === b[j - 1];
			let cost = Math.min(
				(above[j - 1] as number) + (same ? 0 : 1),
				(above[j] as number) + 1,
				(row[j - 1] as number) + 1,
			);
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
				cost = Math.min(cost, (twoAbove[j - 2] as number) + 1);
			}
			row.push(cost);
			least = Math.min(least, cost);
		}
		if (least > limit) return limit + 1;
		twoAbove = above;
		above = row;
	}
	return above[b.length] as number;
}
