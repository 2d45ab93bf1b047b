/** Who waits for a slot. */
export interface Waiting {
	/** Says that a slot may be free again. */
	proceed(): void;
}

/**
 * A bound on what is under way at a time, in all. A taker's first slot is to be had as long as there is any, a further one
 * only of the greater part: so many slow takers with much to do leave slots to those that have none. Who finds none free is
 * told in turn when one is.
 */
export class Slots {
	#free: number;
	readonly #kept: number;
	readonly #waiting = { first: new Set<Waiting>(), further: new Set<Waiting>() };

	/** @param kept of these, for takers that have none */
	constructor(count: number, kept: number) {
		this.#free = count;
		this.#kept = kept;
	}

	/**
	 * Takes one, or has the taker wait for its turn.
	 * @param held whether the taker has one already
	 */
	take(taker: Waiting, held: boolean): boolean {
		if (this.#free <= (held ? this.#kept : 0)) {
			this.#waiting[held ? 'further' : 'first'].add(taker);
			return false;
		}
		this.#free -= 1;
		return true;
	}

	/** Gives one back. */
	release(): void {
		this.#free += 1;
		this.#tell(this.#waiting.first, 0);
		this.#tell(this.#waiting.further, this.#kept);
	}

	/** Waits no more. */
	forget(taker: Waiting): void {
		for (const waiting of Object.values(this.#waiting)) waiting.delete(taker);
	}

	/** Tells one after the other until the free ones are taken: who is told may not need one any more. */
	#tell(waiting: Set<Waiting>, kept: number): void {
		for (const next of waiting) {
			if (this.#free <= kept) return;
			waiting.delete(next);
			next.proceed();
		}
	}
}
