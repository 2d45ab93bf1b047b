/**
 * The bound under which sizes fit into a room, all cut to it where they are larger: small ones stay whole, the largest are
 * cut first, and alike. Infinity where all fit as they are.
 */
export function maxMinFairShare(sizes: readonly number[], capacity: number): number {
	const ascending = sizes.toSorted((a, b) => a - b);
	let remaining = capacity;
	for (const [index, size] of ascending.entries()) {
		const share = remaining / (ascending.length - index);
		if (size > share) return Math.max(0, Math.floor(share));
		remaining -= size;
	}
	return Number.POSITIVE_INFINITY;
}
