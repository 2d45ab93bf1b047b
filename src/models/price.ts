import type { Usage } from '../contract/index.ts';

/** The price of a model: micros of the currency (millionths of its unit) for a million tokens, whole numbers. */
export interface ModelPrice {
	input: number;
	output: number;
	/** What a reply is expected to cost at most, in micros. */
	reserved_micros: number;
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
