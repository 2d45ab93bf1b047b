import { utilityOf } from './answer-model.ts';
import type { Candidate } from './candidate.ts';
import { type ChoiceFeature, type RankingFeature, rankingFeatures } from './features.ts';

/**
 * `45 days` for `how many days`: a sentence without the number of what is asked for hardly answers. Few of the questions that the weights
 * are trained on ask for a number of things, so this is a rule beside them.
 */
const COUNT_UTILITY = 2;

/** Only the best parts are compared by their evidence. */
const MAX_COMPARED = 24;

/** The best candidates with what orders them. @param ranked by score, best first */
export function comparedCandidates(
	ranked: readonly Candidate[],
): Array<{ candidate: Candidate; features: Record<RankingFeature, number> }> {
	// A line that announces an answer is shown with it, never in its place.
	const answers = ranked.filter(({ part }) => !('unit' in part && part.unit.isAnnouncement));
	const compared = answers.slice(0, MAX_COMPARED);
	const best = {
		score: compared[0]?.score ?? 1,
		passageScore: Math.max(...compared.map(({ source }) => source.passage.score)),
	};
	return compared.map((candidate) => ({ candidate, features: rankingFeatures(candidate, best) }));
}

/** A candidate with how well it answers, compared with the others. */
export interface OrderedCandidate {
	candidate: Candidate;
	utility: number;
}

/** The best candidates, ordered by their evidence. @param ranked by score, best first */
export function orderByEvidence(ranked: readonly Candidate[]): OrderedCandidate[] {
	return comparedCandidates(ranked)
		.map(({ candidate, features }) => ({ candidate, utility: utilityOf(features) + COUNT_UTILITY * features.count }))
		.sort((a, b) => b.utility - a.utility);
}

/** How the candidate with the highest utility compares with the others. */
export function choiceFeatures(utilities: readonly number[]): Record<ChoiceFeature, number> {
	const [first = 0, ...others] = [...utilities].sort((a, b) => b - a);
	const odds = others.reduce((sum, utility) => sum + Math.exp(utility - first), 1);
	return { choice: 1 / odds, lead: others.length === 0 ? 1 : Math.tanh((first - (others[0] as number)) / 2) };
}
