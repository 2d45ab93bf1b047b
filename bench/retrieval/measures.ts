/** Quality of a ranking with binary relevance. */
export interface Quality {
	ndcg: number;
	recall: number;
	mrr: number;
}

/** Measures the first `cutoff` of a ranking. */
export function evaluate(ranking: readonly string[], relevant: ReadonlySet<string>, cutoff = 10): Quality {
	let gain = 0;
	let found = 0;
	let mrr = 0;
	ranking.slice(0, cutoff).forEach((id, rank) => {
		if (!relevant.has(id)) return;
		gain += 1 / Math.log2(rank + 2);
		found++;
		mrr ||= 1 / (rank + 1);
	});
	let ideal = 0;
	for (let rank = 0; rank < Math.min(cutoff, relevant.size); rank++) ideal += 1 / Math.log2(rank + 2);
	return { ndcg: gain / ideal, recall: found / relevant.size, mrr };
}

export function mean(values: readonly number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The area under the ROC curve: the probability that a positive's value is above a negative's. Ties count half. */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): number {
	const all = [
		...positives.map((value) => ({ value, positive: true })),
		...negatives.map((value) => ({ value, positive: false })),
	].sort((a, b) => a.value - b.value);
	let ranks = 0;
	for (let from = 0; from < all.length; ) {
		let to = from;
		while (to < all.length && all[to]?.value === all[from]?.value) to++;
		const rank = (from + to + 1) / 2;
		for (let at = from; at < to; at++) if (all[at]?.positive) ranks += rank;
		from = to;
	}
	return (ranks - (positives.length * (positives.length + 1)) / 2) / (positives.length * negatives.length);
}
