import type { Backlog } from './topic.ts';

/** Followers that are woken at once; most streams have no more. */
const FIRST = 32;
/** What one slice of waking may take, with all that the woken do at once (ms). Half of the bound, since followers differ. */
const SLICE_MS = 2.5;
const LARGEST = 512;

/**
 * Wakes followers so that thousands of them do not keep the event loop from others: the first few at once, the rest in slices,
 * each in a turn of its own. What a follower does when it wakes runs before the next turn, so the time of a slice is known then,
 * and the next one is made larger or smaller. Followers of other streams do not wait behind it.
 */
export class WakeQueue {
	#waiting = new Set<Backlog>();
	#size = FIRST;
	#scheduled = false;

	/** Wakes all followers of a stream, in order. A follower that waits already keeps its place, and takes everything when it wakes. */
	wake(followers: ReadonlySet<Backlog>): void {
		let count = 0;
		for (const follower of followers) {
			if (this.#waiting.has(follower)) continue;
			if (++count <= FIRST) follower.wake();
			else this.#waiting.add(follower);
		}
		if (this.#waiting.size > 0) this.#schedule();
	}

	/** A follower that has left. */
	forget(follower: Backlog): void {
		this.#waiting.delete(follower);
	}

	#schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		let begun = 0;
		setImmediate(() => {
			begun = performance.now();
			this.#slice();
		});
		// The very next callback: between the two there is only what the woken followers did.
		setImmediate(() => {
			this.#scheduled = false;
			const took = Math.max(performance.now() - begun, 0.05);
			this.#size = Math.round(Math.min(Math.max((this.#size * SLICE_MS) / took, 1), this.#size * 2, LARGEST));
			if (this.#waiting.size > 0) this.#schedule();
		});
	}

	#slice(): void {
		let left = this.#size;
		for (const follower of this.#waiting) {
			if (left-- === 0) return;
			this.#waiting.delete(follower);
			follower.wake();
		}
	}
}
