import { ANSWER_FEATURES, type AnswerFeature, RANKING_FEATURES, type RankingFeature } from './features.ts';
import weights from './weights.json' with { type: 'json' };

/** How well a candidate answers, compared with the other candidates of its question. */
export function utilityOf(features: Record<RankingFeature, number>): number {
	let sum = 0;
	for (const name of RANKING_FEATURES) sum += weights.ranking[name] * features[name];
	return sum;
}

/** How probably an answer with these features is right, from 0 to 1: a logistic model, calibrated on questions that it was not fitted to. */
export function probabilityOf(features: Record<AnswerFeature, number>): number {
	let sum = weights.intercept;
	for (const name of ANSWER_FEATURES) sum += weights.answer[name] * features[name];
	return 1 / (1 + Math.exp(-sum));
}

/**
 * Whether an answer with this probability is given. A value under wrong names misleads; a sentence shows what it is about, so it may be
 * less probable. The training derives both thresholds.
 */
export function isProbableEnough(probability: number, isSentence: boolean): boolean {
	return probability >= (isSentence ? weights.thresholds.sentence : weights.thresholds.value);
}
