import type { Clock } from '../../../src/base/index.ts';
import type { Timers } from '../../../src/webhooks/delivery/index.ts';

interface TimerEntry {
	at: number;
	callback: () => void;
}

/** Time that passes only on command, from one timer to the next. */
export class FakeTime implements Clock {
	#now: number;
	/** Sorted, the next one last. */
	readonly #entries: TimerEntry[] = [];

	constructor(now: number) {
		this.#now = now;
	}

	now(): number {
		return this.#now;
	}

	/** This clock never jumps. */
	monotonicNow(): number {
		return this.#now;
	}

	/** Timers of one process: after `end` none of them fires. */
	process(): Timers & { end(): void } {
		let ended = false;
		return {
			set: (ms, ring) =>
				this.at(this.#now + ms, () => {
					if (!ended) ring();
				}),
			end() {
				ended = true;
			},
		};
	}

	/** Fires once at a time; the result cancels it. */
	at(at: number, ring: () => void): () => void {
		const entry = { at: Math.max(at, this.#now), callback: ring };
		let place = this.#entries.length;
		while (place > 0 && (this.#entries[place - 1] as TimerEntry).at <= entry.at) place -= 1;
		this.#entries.splice(place, 0, entry);
		return () => {
			const found = this.#entries.indexOf(entry);
			if (found >= 0) this.#entries.splice(found, 1);
		};
	}

	/** Advances from timer to timer until a time, and waits after each until its work is done. */
	async runUntil(end: number): Promise<void> {
		await settled();
		for (let next = this.#entries.at(-1); next !== undefined && next.at <= end; next = this.#entries.at(-1)) {
			this.#entries.pop();
			this.#now = next.at;
			next.callback();
			await settled();
		}
		this.#now = Math.max(this.#now, end);
	}
}

/** What follows without waiting for time has been done. */
function settled(): Promise<void> {
	return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
