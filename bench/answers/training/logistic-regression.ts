import { dot, solve } from './linear-algebra.ts';

/** A row of features with its outcome, 0 or 1, and its weight. */
export interface Example {
	features: readonly number[];
	outcome: number;
	weight: number;
}

export interface LogisticModel {
	intercept: number;
	weights: number[];
}

const MAX_ITERATIONS = 50;
const TOLERANCE = 1e-9;

/** Fits a logistic model by Newton's method. @param penalty the weight of the squared weights (ridge), of all examples together */
export function fitLogistic(examples: readonly Example[], penalty: number): LogisticModel {
	const size = (examples[0]?.features.length ?? 0) + 1;
	const beta = new Array<number>(size).fill(0);
	for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
		const gradient = new Array<number>(size).fill(0);
		const hessian = Array.from({ length: size }, () => new Array<number>(size).fill(0));
		for (const { features, outcome, weight } of examples) {
			const row = [...features, 1];
			const p = logistic(dot(beta, row));
			const slope = weight * p * (1 - p);
			for (let i = 0; i < size; i++) {
				const value = row[i] as number;
				if (value === 0) continue;
				(gradient[i] as number) += weight * (outcome - p) * value;
				const line = hessian[i] as number[];
				for (let j = 0; j < size; j++) (line[j] as number) += slope * value * (row[j] as number);
			}
		}
		for (let i = 0; i < size; i++) {
			const ridge = i < size - 1 ? penalty : 1e-6;
			(gradient[i] as number) -= ridge * (beta[i] as number);
			((hessian[i] as number[])[i] as number) += ridge;
		}
		const step = solve(hessian, gradient);
		for (let i = 0; i < size; i++) (beta[i] as number) += step[i] as number;
		if (Math.max(...step.map(Math.abs)) < TOLERANCE) break;
	}
	return { intercept: beta[size - 1] as number, weights: beta.slice(0, -1) };
}

/** The probability of the outcome 1. */
export function probability({ intercept, weights }: LogisticModel, features: readonly number[]): number {
	return logistic(intercept + dot(weights, features));
}

export function logistic(value: number): number {
	return 1 / (1 + Math.exp(-value));
}
