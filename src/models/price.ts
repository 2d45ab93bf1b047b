import type { Usage } from '../contract/index.ts';

/** The price of a model: micros of the currency (millionths of its unit) for a million tokens, whole numbers. */
export interface ModelPrice {
	input: number;
	output: number;
	/** What one call costs at most, in micros, without the question. */
	reserved_micros: number;
	/**
	 * The tokens that `reserved_micros` is the price of, and those of the context, which the question cannot exceed. A call with a
	 * reservation gets no more. Absent: it has no limit.
	 */
	reserved_tokens?: Usage & { context_tokens: number };
}

const TOKENS_OF_PRICE = 1_000_000n;

/** The cost of tokens in micros, rounded up: sums are never below the provider's. Bounded by the largest safe integer. */
export function costOf(price: Pick<ModelPrice, 'input' | 'output'>, { input_tokens, output_tokens }: Usage): number {
	// The products may be larger than a double holds exactly.
	const product = BigInt(price.input) * BigInt(input_tokens) + BigInt(price.output) * BigInt(output_tokens);
	const cost = (product + TOKENS_OF_PRICE - 1n) / TOKENS_OF_PRICE;
	return Number(cost > MAX_COST ? MAX_COST : cost);
}

const MAX_COST = BigInt(Number.MAX_SAFE_INTEGER);
