/** The score of each candidate (a chunk's row id) in one half of the search. */
export type Scores = ReadonlyMap<number, number>;

/** A candidate with its fused score. */
export interface Candidate {
	id: number;
	/** 0..1, relative to the best of each half. */
	fusedScore: number;
}

/**
 * Fuses both halves into one order: scores are divided by the best score of their half, then weighted. Candidates with equal
 * scores keep the order in which they were stored.
 * @param weight the share of the semantic half, 0..1
 */
export function fuse(keyword: Scores, semantic: Scores, weight: number): Candidate[] {
	const bestKeyword = Math.max(0, ...keyword.values());
	const bestSemantic = Math.max(0, ...semantic.values());
	const candidates = [...new Set([...keyword.keys(), ...semantic.keys()])].map((id) => ({
		id,
		fusedScore:
			(1 - weight) * relativeScore(keyword.get(id), bestKeyword) +
			weight * relativeScore(semantic.get(id), bestSemantic),
	}));
	return candidates.sort((a, b) => b.fusedScore - a.fusedScore || a.id - b.id);
}

/** Merges the orders of several queries: the fused scores of a candidate are added by the weight of each. */
export function mergeRankings(
	rankings: ReadonlyArray<{ weight: number; fused: readonly Candidate[] }>,
): readonly Candidate[] {
	const [only] = rankings;
	if (only && rankings.length === 1) return only.fused;
	const scores = new Map<number, number>();
	for (const { weight, fused } of rankings) {
		for (const { id, fusedScore } of fused) scores.set(id, (scores.get(id) ?? 0) + weight * fusedScore);
	}
	return [...scores]
		.map(([id, fusedScore]) => ({ id, fusedScore }))
		.sort((a, b) => b.fusedScore - a.fusedScore || a.id - b.id);
}

function relativeScore(score: number | undefined, best: number): number {
	return score === undefined || best <= 0 ? 0 : Math.max(0, score) / best;
}
