import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlicedWork } from '../../src/base/index.ts';
import { compute } from '../support/compute.ts';
import { until } from '../support/until.ts';

/** So many parts of work, and how many of them were done in each turn of the event loop. */
function parts(size: number, work: () => void) {
	const turns: number[] = [];
	let isNewTurn = true;
	return {
		turns,
		size,
		workOnNext() {
			this.size--;
			if (isNewTurn) {
				turns.push(0);
				isNewTurn = false;
				setImmediate(() => {
					isNewTurn = true;
				});
			}
			turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
			work();
		},
	};
}

test('nothing happens in the turn of the call, then everything is done', async () => {
	const few = parts(10, () => {});
	const work = new SlicedWork(few);
	work.start();
	work.start();
	await null;
	assert.deepEqual(few.turns, []);
	await until('all is done', () => few.size === 0);
});

for (const [name, work] of [
	['at once', () => compute(0.3)],
	['in microtasks', () => void Promise.resolve().then(() => Promise.resolve().then(() => compute(0.3)))],
] as const) {
	test(`of parts that take 0.3 ms ${name}, one is done in a turn of the event loop`, async () => {
		let current: () => void = () => {};
		const many = parts(1_000, () => current());
		const slices = new SlicedWork(many);
		slices.start();
		await until('parts that take no time are done', () => many.size === 0);
		many.turns.length = 0;
		current = work;
		many.size = 50;
		slices.start();
		await until('all is done', () => many.size === 0);
		assert.equal(Math.max(...many.turns), 1, `in the turns were ${many.turns}`);
	});
}

test('a part begins after the microtasks of the one before', async () => {
	const log: string[] = [];
	const run = async () => {
		log.push('begins');
		for (let step = 0; step < 5; step++) await null;
		log.push('ends');
	};
	const three = parts(3, () => void run());
	new SlicedWork(three).start();
	await until('all is done', () => log.length === 6);
	assert.deepEqual(log, ['begins', 'ends', 'begins', 'ends', 'begins', 'ends']);
});

test('work goes on with what comes meanwhile, and begins again after the end', async () => {
	const some = parts(5, () => compute(0.3));
	const work = new SlicedWork(some);
	work.start();
	await new Promise(setImmediate);
	some.size += 20;
	await until('all is done', () => some.size === 0);
	some.size = 3;
	work.start();
	await until('the new work is done', () => some.size === 0);
});
