/** A value at a time in minutes. */
export type Point = readonly [minutes: number, value: number];

/** The slope of the line through points by least squares, a minute. Fewer than two times have none. */
export function slopeOf(points: readonly Point[]): number {
	const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
	const meanTime = mean(points.map(([minutes]) => minutes));
	const meanValue = mean(points.map(([, value]) => value));
	let covariance = 0;
	let variance = 0;
	for (const [minutes, value] of points) {
		covariance += (minutes - meanTime) * (value - meanValue);
		variance += (minutes - meanTime) ** 2;
	}
	return variance === 0 ? 0 : covariance / variance;
}

/** The value that a part of the values does not exceed. */
export function percentile(values: readonly number[], part: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
