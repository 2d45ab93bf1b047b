import assert from 'node:assert/strict';
import test from 'node:test';
import { Slots } from '../../../src/webhooks/delivery/slots.ts';

/** Somebody who takes slots when told that one may be free. */
class Taker {
	held = 0;
	told = 0;
	wanted: number;
	readonly #slots: Slots;

	constructor(slots: Slots, wanted: number) {
		this.#slots = slots;
		this.wanted = wanted;
	}

	proceed(): void {
		this.told += 1;
		this.take();
	}

	take(): this {
		while (this.wanted > 0 && this.#slots.take(this, this.held > 0)) {
			this.wanted -= 1;
			this.held += 1;
		}
		return this;
	}

	release(): void {
		this.held -= 1;
		this.#slots.release();
	}
}

test('no more slots are taken than there are, and who waits gets the next ones in turn', () => {
	const slots = new Slots(2, 0);
	const first = new Taker(slots, 2).take();
	const [second, third] = [new Taker(slots, 1).take(), new Taker(slots, 1).take()];
	assert.deepEqual([first.held, second.held, third.held], [2, 0, 0]);
	first.release();
	assert.deepEqual([second.held, third.held], [1, 0]);
	assert.equal(third.told, 0);
	first.release();
	assert.deepEqual([second.held, third.held], [1, 1]);
});

test('who has none gets one, however much others want that have some', () => {
	const slots = new Slots(10, 5);
	const greedy = new Taker(slots, 100).take();
	assert.equal(greedy.held, 5);
	const modest = Array.from({ length: 6 }, () => new Taker(slots, 2).take());
	assert.deepEqual(
		modest.map(({ held }) => held),
		[1, 1, 1, 1, 1, 0],
	);
	modest[0]?.release();
	assert.equal(modest[5]?.held, 1);
	assert.equal(modest[0]?.held, 0);
	for (const taker of modest) taker.wanted = 0;
	for (const taker of modest.slice(1)) taker.release();
	assert.equal(greedy.held, 5, 'what is kept stays kept');
	greedy.release();
	assert.equal(greedy.held, 5, 'of the others it gets what there is');
});

test('a slot that the one who is told does not need any more goes to the next one', () => {
	const slots = new Slots(1, 0);
	const first = new Taker(slots, 1).take();
	const [second, third] = [new Taker(slots, 1).take(), new Taker(slots, 1).take()];
	second.wanted = 0;
	first.release();
	assert.deepEqual([second.held, third.held], [0, 1]);
});

test('who waits no more is not told', () => {
	const slots = new Slots(1, 0);
	const first = new Taker(slots, 1).take();
	const second = new Taker(slots, 1).take();
	slots.forget(second);
	first.release();
	assert.deepEqual([second.told, second.held], [0, 0]);
	assert.equal(new Taker(slots, 1).take().held, 1);
});
