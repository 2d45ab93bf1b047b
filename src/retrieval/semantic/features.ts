/** The analysed terms of one chunk, separated by spaces. */
export interface ChunkTerms {
	title_terms: string;
	body_terms: string;
}

/** The weight of a term in the title, relative to the body. */
const TITLE_WEIGHT = 2;

/** The count of each term in a chunk; terms of the title count twice. */
export function countTerms({ title_terms, body_terms }: ChunkTerms): Map<string, number> {
	const counts = new Map<string, number>();
	addCounts(counts, title_terms, TITLE_WEIGHT);
	addCounts(counts, body_terms, 1);
	return counts;
}

function addCounts(counts: Map<string, number>, terms: string, weight: number): void {
	let from = 0;
	while (from < terms.length) {
		let to = terms.indexOf(' ', from);
		if (to === -1) to = terms.length;
		if (to > from) {
			const term = terms.slice(from, to);
			counts.set(term, (counts.get(term) ?? 0) + weight);
		}
		from = to + 1;
	}
}

/** The weight of a term that occurs in `count` of `total` chunks. */
export function inverseFrequency(count: number, total: number): number {
	return Math.log(1 + Math.max(0, total - count + 0.5) / (count + 0.5));
}

/** The sublinear weight of a repeated term. */
export function sublinear(count: number): number {
	return 1 + Math.log(count);
}
