import type { ChunkTerms } from '../semantic/features.ts';
import { ContrastiveStep } from './contrastive-step.ts';
import { PairSource, type TermRows } from './text-pairs.ts';

/** Steps of training at most, and pairs of texts in each. */
const MAX_STEPS = 600;
const BATCH_SIZE = 48;
/** The number of times that a chunk is drawn, at most: with few chunks more steps would learn them by heart. */
const MAX_DRAWS = 100;

/**
 * Trains the directions further, in place, on pairs of texts that the chunks offer: a title with its body, and a piece of a
 * chunk with the rest of it. Each question must be nearer to its own text than to the other texts of its batch (contrastive
 * learning: softmax over cosines). Deterministic.
 * @param directions one row of `width` values for each term
 */
export function fineTune(
	directions: Float32Array,
	width: number,
	chunks: readonly ChunkTerms[],
	terms: TermRows,
): void {
	if (chunks.length < 2) return;
	const pairs = new PairSource(chunks, terms);
	const step = new ContrastiveStep(directions, width, BATCH_SIZE);
	const steps = Math.min(MAX_STEPS, Math.ceil((MAX_DRAWS * chunks.length) / BATCH_SIZE));
	for (let i = 0; i < steps; i++) {
		const batch = pairs.batch(BATCH_SIZE);
		if (batch.length < 2) break;
		step.run(batch);
	}
	step.copyTo(directions);
}
