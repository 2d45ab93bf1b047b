import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChunkCredit, SmallChunkLimit } from '../../src/http/small-chunk-limit.ts';

/** @returns the chunks of these bytes that may be read, up to a hundred thousand */
function countTaken(take: () => boolean): number {
	let taken = 0;
	while (taken < 100_000 && take()) taken++;
	return taken;
}

test('ten thousand small chunks are read in a second, and at once', () => {
	let now = 5_000;
	const limit = new SmallChunkLimit(() => now);
	assert.equal(
		countTaken(() => limit.take()),
		10_000,
	);
	now += 500;
	assert.equal(
		countTaken(() => limit.take()),
		5_000,
	);
	now += 10_000;
	assert.equal(
		countTaken(() => limit.take()),
		10_000,
	);
	assert.equal(limit.take(), false);
});

test('a body has 64 small chunks free, and its larger chunks make up for as many', () => {
	const limit = new SmallChunkLimit(() => 0);
	const body = new ChunkCredit(limit);
	for (const bytes of [32, 40, 1_000_000])
		assert.equal(
			countTaken(() => body.take(bytes)),
			100_000,
		);
	// Many large chunks do not allow as many small ones.
	assert.equal(
		countTaken(() => body.take(0)),
		64 + 10_000,
	);
	assert.equal(new ChunkCredit(limit).take(0), true);
	assert.equal(body.take(32), true);
	assert.equal(body.take(31), false);
});
