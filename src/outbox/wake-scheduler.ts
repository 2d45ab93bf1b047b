import type { SubscriberBuffer } from './topic.ts';

/** Followers that are woken at once; most streams have no more. */
const IMMEDIATE_WAKES = 32;
/** What one slice of waking may take, with all that the woken do at once (ms). Half of the bound, since followers differ. */
const SLICE_MS = 2.5;
const MAX_SLICE_SIZE = 512;

/**
 * Wakes followers so that thousands of them do not keep the event loop from others: the first few at once, the rest in slices,
 * each in a turn of its own. What a follower does when it wakes runs before the next turn, so the time of a slice is known then,
 * and the next one is made larger or smaller. Followers of other streams do not wait behind it.
 */
export class WakeScheduler {
	#queue = new Set<SubscriberBuffer>();
	#sliceSize = IMMEDIATE_WAKES;
	#scheduled = false;

	/** Wakes all followers of a stream, in order. A follower that waits already keeps its place, and takes everything when it wakes. */
	wake(subscribers: ReadonlySet<SubscriberBuffer>): void {
		let count = 0;
		for (const subscriber of subscribers) {
			if (this.#queue.has(subscriber)) continue;
			if (++count <= IMMEDIATE_WAKES) subscriber.wake();
			else this.#queue.add(subscriber);
		}
		if (this.#queue.size > 0) this.#schedule();
	}

	/** A follower that has left. */
	remove(subscriber: SubscriberBuffer): void {
		this.#queue.delete(subscriber);
	}

	#schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		let startedAt = 0;
		setImmediate(() => {
			startedAt = performance.now();
			this.#wakeSlice();
		});
		// The very next callback: between the two there is only what the woken followers did.
		setImmediate(() => {
			this.#scheduled = false;
			const elapsedMs = Math.max(performance.now() - startedAt, 0.05);
			this.#sliceSize = Math.round(
				Math.min(Math.max((this.#sliceSize * SLICE_MS) / elapsedMs, 1), this.#sliceSize * 2, MAX_SLICE_SIZE),
			);
			if (this.#queue.size > 0) this.#schedule();
		});
	}

	#wakeSlice(): void {
		let remaining = this.#sliceSize;
		for (const subscriber of this.#queue) {
			if (remaining-- === 0) return;
			this.#queue.delete(subscriber);
			subscriber.wake();
		}
	}
}
