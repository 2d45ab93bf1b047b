import assert from 'node:assert/strict';
import test from 'node:test';
import { latencySlot, percentileOf, slotLatency } from '../../src/base/index.ts';

test('the latency of a slot differs from those in it by at most 4.5 percent', () => {
	for (let ms = 1.01; ms < 86_400_000; ms *= 1.013) {
		const error = Math.abs(slotLatency(latencySlot(ms)) / ms - 1);
		assert.ok(error <= 0.045, `${ms} ms is read as ${slotLatency(latencySlot(ms))}`);
	}
	assert.equal(slotLatency(latencySlot(0)), 1);
	assert.equal(latencySlot(1e12), latencySlot(86_400_000), 'longer latencies share the last slot');
});

test('percentiles of a merged histogram are near those of all latencies', () => {
	const latencies = Array.from({ length: 1_000 }, (_, at) => 20 + ((at * 7_919) % 1_000) * 3);
	const counts = new Map<number, number>();
	for (const ms of latencies) counts.set(latencySlot(ms), (counts.get(latencySlot(ms)) ?? 0) + 1);
	const sorted = latencies.toSorted((a, b) => a - b);
	for (const share of [0.5, 0.95]) {
		const exact = sorted[Math.ceil(1_000 * share) - 1] as number;
		const found = percentileOf(counts, share) as number;
		assert.ok(Math.abs(found / exact - 1) <= 0.05, `${found} for ${exact}`);
	}
	assert.equal(percentileOf(new Map(), 0.5), null);
});
