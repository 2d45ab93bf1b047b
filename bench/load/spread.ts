/** The median, lowest and highest value of several rounds. */
export interface Spread {
	median: number;
	lowest: number;
	highest: number;
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (index: number) => sorted[index] as number;
	const middle = sorted.length >> 1;
	const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
	return { median, lowest: at(0), highest: at(sorted.length - 1) };
}

/** The quantile of the values; NaN without values. */
export function percentileOf(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
