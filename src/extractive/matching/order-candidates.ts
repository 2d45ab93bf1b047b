import { utilityOf } from './answer-model.ts';
import type { Candidate } from './candidate.ts';
import { type RankingFeature, rankingFeatures } from './features.ts';

/** `45 days` for `how many days`: a sentence without the number of what is asked for hardly answers. */
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

/** The best candidates, ordered by their evidence. @param ranked by score, best first */
export function orderByEvidence(ranked: readonly Candidate[]): Candidate[] {
	return comparedCandidates(ranked)
		.map(({ candidate, features }) => ({
			candidate,
			utility: utilityOf(features) + (hasCount(candidate) ? COUNT_UTILITY : 0),
		}))
		.sort((a, b) => b.utility - a.utility)
		.map(({ candidate }) => candidate);
}

/** Whether it has a number of the things that the question asks the number of. */
function hasCount({ part, space }: Candidate): boolean {
	return 'unit' in part && (space.question.countPattern?.test(part.unit.text) ?? false);
}
