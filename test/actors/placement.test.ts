import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalPlacement } from '../../src/actors/index.ts';
import { deferred } from '../../src/base/index.ts';

test('one node owns every id from its start, and tells so', () => {
	const placement = new LocalPlacement('node-1', 7);
	const gained: number[] = [];
	placement.onGained(({ epoch }) => gained.push(epoch));
	assert.deepEqual(gained, [7]);
	assert.deepEqual(placement.ownerOf('a'), { shard: 'all', owner: 'node-1', epoch: 7 });
});

test('ownership ends only after everyone concerned has let go', async () => {
	const placement = new LocalPlacement('node-1', 1);
	const stopped = deferred<void>();
	let unconcerned = 0;
	placement.onLost(() => stopped.promise);
	placement.onLost(() => void unconcerned++)();
	const drained = placement.drain();
	assert.ok(placement.ownerOf('a'));
	stopped.resolve();
	await drained;
	assert.equal(placement.ownerOf('a'), undefined);
	assert.equal(unconcerned, 0);
	placement.onGained(() => assert.fail('nothing is gained any more'));
});

test('a listener that fails does not keep ownership alive', async () => {
	const placement = new LocalPlacement('node-1', 1);
	placement.onLost(() => {
		throw new Error('stuck');
	});
	await assert.rejects(placement.drain(), /stuck/);
	assert.equal(placement.ownerOf('a'), undefined);
});
