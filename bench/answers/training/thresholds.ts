/**
 * What a wrong answer costs, where the refusal of a right one costs 1. A value under wrong names misleads; a sentence shows what it is
 * about.
 */
const WRONG_COSTS = { value: 0.7, sentence: 0.33 };

/** The least probabilities with which answers are given. */
export interface Thresholds {
	value: number;
	sentence: number;
}

/**
 * The probabilities from which an answer costs less than a refusal: a probability p is worth giving where (1 - p) × cost < p. The
 * probabilities are calibrated on answers that the weights were not fitted to, so this is the least expected cost.
 */
export function leastCostThresholds(): Thresholds {
	const breakEven = (cost: number) => Math.round((100 * cost) / (1 + cost)) / 100;
	return { value: breakEven(WRONG_COSTS.value), sentence: breakEven(WRONG_COSTS.sentence) };
}
