import { dot, solve } from './linear-algebra.ts';

/** The candidates of one question: their features, and which of them are right. */
export interface Choice {
	candidates: ReadonlyArray<readonly number[]>;
	isRight: readonly boolean[];
	weight: number;
}

const ITERATIONS = 12;

/**
 * The weights with which the right candidates of a question probably come first (softmax over the candidates of a question), by Newton's
 * method. Choices without a right or without a wrong candidate teach nothing.
 * @param penalty the weight of the squared weights (ridge), of all choices together
 */
export function fitChoices(choices: readonly Choice[], penalty: number): number[] {
	const useful = choices.filter(({ isRight }) => isRight.includes(true) && isRight.includes(false));
	const size = useful[0]?.candidates[0]?.length ?? 0;
	const weights = new Array<number>(size).fill(0);
	for (let iteration = 0; iteration < ITERATIONS; iteration++) {
		const gradient = weights.map((weight) => -penalty * weight);
		const hessian = weights.map((_, i) => weights.map((_, j) => (i === j ? penalty : 0)));
		for (const choice of useful) addChoice(choice, weights, gradient, hessian);
		const step = solve(hessian, gradient);
		for (let i = 0; i < size; i++) (weights[i] as number) += step[i] as number;
	}
	return weights;
}

/** Adds the slope of one choice, and its curvature as if one known candidate were right, which bounds it. */
function addChoice(
	{ candidates, isRight, weight }: Choice,
	weights: readonly number[],
	gradient: number[],
	hessian: number[][],
): void {
	const size = weights.length;
	const utilities = candidates.map((features) => dot(weights, features));
	const highest = Math.max(...utilities);
	const powers = utilities.map((utility) => Math.exp(utility - highest));
	const all = powers.reduce((sum, power) => sum + power, 0);
	const right = powers.reduce((sum, power, at) => sum + (isRight[at] ? power : 0), 0);
	const mean = new Array<number>(size).fill(0);
	for (const [at, features] of candidates.entries()) {
		const share = (powers[at] as number) / all;
		const slope = weight * ((isRight[at] ? (powers[at] as number) / right : 0) - share);
		for (let i = 0; i < size; i++) {
			const value = features[i] as number;
			(mean[i] as number) += share * value;
			(gradient[i] as number) += slope * value;
			if (value === 0) continue;
			const line = hessian[i] as number[];
			const factor = weight * share * value;
			for (let j = 0; j < size; j++) (line[j] as number) += factor * (features[j] as number);
		}
	}
	for (let i = 0; i < size; i++) {
		const line = hessian[i] as number[];
		for (let j = 0; j < size; j++) (line[j] as number) -= weight * (mean[i] as number) * (mean[j] as number);
	}
}
