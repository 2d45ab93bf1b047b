import { providerError } from '../providers/provider-failure.ts';

/** The most dimensions of a vector, those of the largest current models. */
export const MAX_DIMENSIONS = 4_096;

/** The expected body of a response. */
interface EmbeddingsResponse {
	data?: unknown;
	error?: unknown;
}

/**
 * The unit vectors in the body of a response, in the order of the texts of the request. The protocol numbers them, and they
 * may be in any order.
 * @param count texts of the request
 * @param dimensions that each vector must have; null for any number, the same for all
 * @throws ProviderError for any other body; ReportedError for an error that the body reports
 */
export function readVectors(body: string, count: number, dimensions: number | null): Float32Array[] {
	const response = parseResponse(body);
	if (response.error !== undefined && response.error !== null && response.data === undefined) throw response.error;
	if (!Array.isArray(response.data))
		throw providerError('The embeddings provider sent what is not part of its protocol.');
	if (response.data.length !== count) {
		throw providerError(`The embeddings provider sent ${response.data.length} vectors for ${count} texts.`);
	}
	const vectors: Float32Array[] = new Array(count);
	let expected = dimensions;
	for (const [position, item] of response.data.entries()) {
		const { index = position, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
		if (!isIndex(index, count) || vectors[index] !== undefined) {
			throw providerError('The embeddings provider does not say which vector belongs to which text.');
		}
		const vector = unitVector(embedding);
		if (expected !== null && vector.length !== expected) {
			throw providerError(`The embeddings provider sent a vector of ${vector.length} values instead of ${expected}.`);
		}
		expected = vector.length;
		vectors[index] = vector;
	}
	return vectors;
}

function parseResponse(body: string): EmbeddingsResponse {
	try {
		const answer: unknown = JSON.parse(body);
		if (typeof answer === 'object' && answer !== null) return answer;
	} catch {
		// Python writes NaN, which is not JSON.
	}
	throw providerError('The embeddings provider sent what is not part of its protocol.');
}

function isIndex(index: unknown, count: number): index is number {
	return Number.isInteger(index) && (index as number) >= 0 && (index as number) < count;
}

function unitVector(embedding: unknown): Float32Array {
	if (!Array.isArray(embedding) || embedding.length === 0)
		throw providerError('The embeddings provider sent no vector.');
	if (embedding.length > MAX_DIMENSIONS) {
		throw providerError(`Vectors of ${embedding.length} values are too long: ${MAX_DIMENSIONS} is the most.`);
	}
	let square = 0;
	for (const value of embedding) {
		if (typeof value !== 'number')
			throw providerError('The embeddings provider sent a vector with a value that is not a number.');
		square += value * value;
	}
	// The square of a number may overflow, but no model has such numbers.
	if (!Number.isFinite(square) || square === 0) {
		throw providerError('The embeddings provider sent a vector without a direction.');
	}
	const length = Math.sqrt(square);
	const vector = new Float32Array(embedding.length);
	for (let i = 0; i < vector.length; i++) vector[i] = (embedding[i] as number) / length;
	return vector;
}
