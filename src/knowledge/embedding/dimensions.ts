import { AppError } from '../../base/index.ts';

/**
 * Vectors of different lengths come from different models, even if the provider's name for the model is the same.
 * @throws AppError `model_error`
 */
export function requireDimensions(embedder: string, actual: number, expected: number): void {
	if (actual === expected) return;
	const sentence = `The embedder ${embedder} gives vectors of ${actual} values now, and the index holds vectors of ${expected}. Reindex the knowledge base.`;
	throw new AppError('model_error', sentence);
}
