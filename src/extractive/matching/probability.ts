import { FEATURES, type Feature } from './features.ts';
import weights from './weights.json' with { type: 'json' };

/**
 * How probably a candidate with these features answers the question, from 0 to 1, by a logistic model. Its weights were chosen by
 * hand, so the values order candidates but are not calibrated.
 */
export function probabilityOf(features: Record<Feature, number>): number {
	let sum = weights.intercept;
	for (const name of FEATURES) sum += weights.features[name] * features[name];
	return 1 / (1 + Math.exp(-sum));
}

/** Below it, no answer is given. */
export const THRESHOLD: number = weights.threshold;
