import type { AbortableRequest, AbortListener } from '../../src/base/index.ts';

/** A request that a test aborts. */
export class TestRequest implements AbortableRequest {
	readonly #listeners = new Set<AbortListener>();
	#aborted: { reason: unknown } | null = null;

	abort(reason: unknown): void {
		this.#aborted = { reason };
		for (const listener of this.#listeners) listener.onRequestAbort(reason);
	}

	addAbortListener(listener: AbortListener): void {
		if (this.#aborted) listener.onRequestAbort(this.#aborted.reason);
		else this.#listeners.add(listener);
	}

	removeAbortListener(listener: AbortListener): void {
		this.#listeners.delete(listener);
	}
}
