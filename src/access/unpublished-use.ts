import type { UsedRequests } from '../store/index.ts';

/** Keys whose use is remembered. Beyond that, small uses are forgotten: each is less than a twentieth of a burst. */
const MAX_KEYS = 50_000;
/** A key is published once its use is this part of its burst. */
const PUBLISHED_PART = 0.05;
/** Keys that are published at once, those closest to their limits first. */
const MAX_PUBLISHED = 300;

/** What was taken from the buckets of this node, and other nodes do not know yet. */
export class UnpublishedUse {
	readonly #used = new Map<string, UsedRequests>();
	/** The keys that have used enough to be published. */
	readonly #due = new Set<string>();

	/** Whether there is something to publish. */
	get isDue(): boolean {
		return this.#due.size > 0;
	}

	/** Adds one request. */
	add(key: string, perMinute: number, burst: number): void {
		let use = this.#used.get(key);
		if (use === undefined) {
			if (this.#used.size >= MAX_KEYS) this.#forget();
			use = { key, used: 0, perMinute };
			this.#used.set(key, use);
		}
		use.used++;
		use.perMinute = perMinute;
		if (use.used >= burst * PUBLISHED_PART) this.#due.add(key);
	}

	/** Removes and returns what is to be published now. */
	take(): UsedRequests[] {
		const due = [...this.#due].map((key) => this.#used.get(key) as UsedRequests);
		const taken = due.sort((a, b) => b.used / b.perMinute - a.used / a.perMinute).slice(0, MAX_PUBLISHED);
		for (const { key } of taken) {
			this.#used.delete(key);
			this.#due.delete(key);
		}
		return taken;
	}

	#forget(): void {
		this.#used.clear();
		this.#due.clear();
	}
}
