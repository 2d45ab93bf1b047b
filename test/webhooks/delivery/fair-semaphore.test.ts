import assert from 'node:assert/strict';
import test from 'node:test';
import { FairSemaphore } from '../../../src/webhooks/delivery/fair-semaphore.ts';

/** A holder that takes slots when it is called. */
class Taker {
	held = 0;
	told = 0;
	wanted: number;
	readonly #slots: FairSemaphore;
	readonly #workspace: string;

	constructor(slots: FairSemaphore, wanted: number, workspace = 'ws_a') {
		this.#slots = slots;
		this.#workspace = workspace;
		this.wanted = wanted;
	}

	advance(): void {
		this.told += 1;
		this.take();
	}

	take(): this {
		while (this.wanted > 0 && this.#slots.tryAcquire(this, this.#workspace)) {
			this.wanted -= 1;
			this.held += 1;
		}
		return this;
	}

	release(): void {
		this.held -= 1;
		this.#slots.release(this);
	}
}

/** All for one workspace. */
const slotsFor = (permits: number, additionalPerWorkspace = permits) =>
	new FairSemaphore({ permits, maxPerWorkspace: permits, additionalPerWorkspace });
const heldBy = (takers: readonly Taker[]) => takers.map(({ held }) => held);

test('grants no more slots than exist, and serves waiters in turn', () => {
	const slots = slotsFor(2);
	const first = new Taker(slots, 2).take();
	const [second, third] = [new Taker(slots, 1).take(), new Taker(slots, 1).take()];
	assert.deepEqual(heldBy([first, second, third]), [2, 0, 0]);
	first.release();
	assert.deepEqual(heldBy([second, third]), [1, 0]);
	assert.equal(third.told, 0);
	first.release();
	assert.deepEqual(heldBy([second, third]), [1, 1]);
});

test('grants a holder its first slot, however many further slots others want', () => {
	const slots = slotsFor(10, 5);
	const greedy = new Taker(slots, 100).take();
	assert.equal(greedy.held, 5);
	const modest = Array.from({ length: 6 }, () => new Taker(slots, 2).take());
	assert.deepEqual(heldBy(modest), [1, 1, 1, 1, 1, 0]);
	modest[0]?.release();
	assert.equal(modest[5]?.held, 1);
	assert.equal(modest[0]?.held, 0);
	for (const taker of modest) taker.wanted = 0;
	for (const taker of modest.slice(1)) taker.release();
	assert.equal(greedy.held, 5, 'what is kept stays kept');
	greedy.release();
	assert.equal(greedy.held, 5, 'of the others it gets what there is');
});

test('limits a workspace to its share and leaves the rest to others', () => {
	const slots = new FairSemaphore({ permits: 5, maxPerWorkspace: 3, additionalPerWorkspace: 3 });
	const many = Array.from({ length: 5 }, () => new Taker(slots, 1).take());
	assert.deepEqual(heldBy(many), [1, 1, 1, 0, 0]);
	const others = Array.from({ length: 3 }, () => new Taker(slots, 1, 'ws_b').take());
	assert.deepEqual(heldBy(others), [1, 1, 0]);
	many[0]?.release();
	assert.deepEqual(heldBy([...many, ...others]), [0, 1, 1, 1, 0, 1, 1, 0]);
	others[0]?.release();
	assert.deepEqual(heldBy([...many, ...others]), [0, 1, 1, 1, 0, 0, 1, 1], 'the first one has its share');
	others[1]?.release();
	assert.deepEqual(heldBy([...many, ...others]), [0, 1, 1, 1, 0, 0, 0, 1], 'though one is free');
});

test('serves waiting workspaces in turn, however many waiters one of them has', () => {
	const slots = new FairSemaphore({ permits: 3, maxPerWorkspace: 3, additionalPerWorkspace: 3 });
	const holder = new Taker(slots, 3, 'ws_holder').take();
	const many = Array.from({ length: 4 }, () => new Taker(slots, 1, 'ws_many').take());
	const [one, other] = [new Taker(slots, 1, 'ws_one').take(), new Taker(slots, 1, 'ws_other').take()];
	for (const expected of [
		[1, 0, 0],
		[1, 1, 0],
		[1, 1, 1],
	]) {
		holder.release();
		assert.deepEqual([many.filter(({ held }) => held > 0).length, one.held, other.held], expected);
	}
	many[0]?.release();
	assert.equal(many[1]?.held, 1);
});

test('offers a slot to the next waiter when the first one no longer needs it', () => {
	const slots = slotsFor(1);
	const first = new Taker(slots, 1).take();
	const [second, third] = [new Taker(slots, 1).take(), new Taker(slots, 1).take()];
	second.wanted = 0;
	first.release();
	assert.deepEqual(heldBy([second, third]), [0, 1]);
});

test('does not call a waiter after it was removed', () => {
	const slots = slotsFor(1);
	const first = new Taker(slots, 1).take();
	const second = new Taker(slots, 1).take();
	slots.cancelWait(second);
	first.release();
	assert.deepEqual([second.told, second.held], [0, 0]);
	assert.equal(new Taker(slots, 1).take().held, 1);
});

test('rejects the release of a slot that was not taken', () => {
	const slots = slotsFor(1);
	const first = new Taker(slots, 1).take();
	first.release();
	assert.throws(() => slots.release(first), /no slot to release/);
});
