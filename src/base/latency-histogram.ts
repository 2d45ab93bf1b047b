/** Slots for each doubling of the latency. */
const SLOTS_PER_DOUBLING = 8;
/** One day. Longer latencies are counted in the last slot. */
const MAX_MS = 86_400_000;

/**
 * The slot of a latency in a histogram whose slots grow by a factor of 2^(1/8). Histograms with the same slots are merged by adding
 * their counts, and a percentile read from one differs from the exact one by at most 4.5 %, or 0.5 ms.
 */
export function latencySlot(ms: number): number {
	if (ms <= 1) return 0;
	return Math.ceil(Math.log2(Math.min(ms, MAX_MS)) * SLOTS_PER_DOUBLING);
}

/** The latency that stands for a slot: its middle on the logarithmic scale (ms). */
export function slotLatency(slot: number): number {
	return slot === 0 ? 1 : 2 ** ((slot - 0.5) / SLOTS_PER_DOUBLING);
}

/**
 * A percentile of a histogram in whole milliseconds; null for an empty one.
 * @param counts by slot
 * @param share for example 0.95
 */
export function percentileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
	const slots = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
	const total = slots.reduce((sum, [, count]) => sum + count, 0);
	let rank = Math.ceil(total * share);
	for (const [slot, count] of slots) {
		rank -= count;
		if (rank <= 0) return Math.round(slotLatency(slot));
	}
	return null;
}
