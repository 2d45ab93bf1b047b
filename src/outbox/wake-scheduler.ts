import { SlicedWork, type WaitingWork } from '../base/index.ts';
import type { SubscriberBuffer } from './topic.ts';

/** Subscribers that are woken at once; most streams have no more. */
const IMMEDIATE_WAKES = 32;
/** Subscribers that are woken together later. It takes less time than to wake each separately. */
const GROUP_SIZE = 16;

/**
 * Wakes subscribers so that thousands of them do not block the event loop: the first few at once, the rest in slices, each in
 * its own turn of the event loop. Subscribers of other streams do not wait for it.
 */
export class WakeScheduler implements WaitingWork {
	readonly #queue = new Set<SubscriberBuffer>();
	/** Goes through the queue, those that are added meanwhile included. */
	#order = this.#queue.values();
	readonly #slices = new SlicedWork(this);

	/** Wakes all subscribers of a stream, in order. A queued subscriber keeps its position and takes all updates when it wakes. */
	wake(subscribers: ReadonlySet<SubscriberBuffer>): void {
		let count = 0;
		for (const subscriber of subscribers) {
			if (this.#queue.has(subscriber)) continue;
			if (++count <= IMMEDIATE_WAKES) subscriber.wake();
			else this.#queue.add(subscriber);
		}
		if (this.#queue.size > 0) this.#slices.start();
	}

	/** Forgets a subscriber that has left. */
	remove(subscriber: SubscriberBuffer): void {
		this.#queue.delete(subscriber);
	}

	get size(): number {
		return this.#queue.size;
	}

	workOnNext(): void {
		for (let left = Math.min(GROUP_SIZE, this.#queue.size); left > 0; left--) this.#takeNext().wake();
	}

	#takeNext(): SubscriberBuffer {
		let next = this.#order.next();
		if (next.done) {
			this.#order = this.#queue.values();
			next = this.#order.next();
		}
		const subscriber = next.value as SubscriberBuffer;
		this.#queue.delete(subscriber);
		return subscriber;
	}
}
