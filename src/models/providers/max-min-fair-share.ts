/**
 * The largest limit under which all sizes fit into a total if each larger size is cut to the limit: small sizes stay whole,
 * and the largest are cut equally. Infinity if all fit uncut.
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
