import { anySignal } from '../../base/index.ts';

/** The signals of a task. */
export interface TaskSignals {
	/** The result is no longer needed. The task ends at once. */
	signal: AbortSignal;
	/** Another task has failed. The task finishes its request and begins no other. */
	drainSignal: AbortSignal;
}

type Settled<T> = { ok: true; index: number; value: T } | { ok: false; index: number; thrown: unknown };

/**
 * Runs tasks, a few at a time, and yields each result as soon as it exists. After a failure no other task begins. The
 * results of the running tasks are yielded, and then it throws. If the consumer returns early, all tasks are aborted.
 * @param concurrencyLimit the number of tasks that may run at this moment, at least one
 * @throws the signal's reason; the error of the first task that failed
 */
export async function* mapUnordered<I, T>(
	items: readonly I[],
	concurrencyLimit: () => number,
	run: (item: I, signals: TaskSignals) => Promise<T>,
	signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
	const consumerLeft = new AbortController();
	const drain = new AbortController();
	const signals = { signal: anySignal(signal, consumerLeft.signal), drainSignal: drain.signal };
	const inFlight = new Map<number, Promise<Settled<T>>>();
	const settle = (index: number, promise: Promise<T>): Promise<Settled<T>> =>
		promise.then(
			(value) => ({ ok: true, index, value }),
			(thrown: unknown) => ({ ok: false, index, thrown }),
		);
	let next = 0;
	let failed: { thrown: unknown } | undefined;
	try {
		for (;;) {
			signal.throwIfAborted();
			while (failed === undefined && next < items.length && inFlight.size < concurrencyLimit()) {
				inFlight.set(next, settle(next, run(items[next] as I, signals)));
				next++;
			}
			if (inFlight.size === 0) break;
			const settled = await Promise.race(inFlight.values());
			inFlight.delete(settled.index);
			if (settled.ok) yield settled.value;
			else {
				failed ??= settled;
				drain.abort(settled.thrown);
			}
		}
		if (failed) throw failed.thrown;
	} finally {
		consumerLeft.abort(new Error('no longer needed'));
		await Promise.all(inFlight.values());
	}
}
