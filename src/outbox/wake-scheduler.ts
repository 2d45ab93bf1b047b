import type { SubscriberBuffer } from './topic.ts';

/** Subscribers that are woken at once; most streams have no more. */
const IMMEDIATE_WAKES = 32;
/** Time for one slice of waking, with the work that the woken subscribers do in it (ms). Half of the bound of 5 ms, since subscribers differ. */
const SLICE_MS = 2.5;
const MAX_SLICE_SIZE = 512;

/**
 * Wakes subscribers so that thousands of them do not block the event loop: the first few at once, the rest in slices, each in
 * its own turn of the event loop. A woken subscriber does its work before the next turn, so the time of a slice is known then,
 * and the next slice becomes larger or smaller. Subscribers of other streams do not wait for it.
 */
export class WakeScheduler {
	#queue = new Set<SubscriberBuffer>();
	#sliceSize = IMMEDIATE_WAKES;
	#scheduled = false;

	/** Wakes all subscribers of a stream, in order. A queued subscriber keeps its position and takes all updates when it wakes. */
	wake(subscribers: ReadonlySet<SubscriberBuffer>): void {
		let count = 0;
		for (const subscriber of subscribers) {
			if (this.#queue.has(subscriber)) continue;
			if (++count <= IMMEDIATE_WAKES) subscriber.wake();
			else this.#queue.add(subscriber);
		}
		if (this.#queue.size > 0) this.#schedule();
	}

	/** Forgets a subscriber that has left. */
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
		// The next callback: between the two there is only the work of the woken subscribers.
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
