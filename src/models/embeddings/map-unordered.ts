/** What a task heeds. */
export interface TaskSignals {
	/** Nobody wants it any more: it ends at once. */
	signal: AbortSignal;
	/** Another one has failed: it finishes what is under way, and begins nothing. */
	drainSignal: AbortSignal;
}

type Settled<T> = { ok: true; index: number; value: T } | { ok: false; index: number; thrown: unknown };

/**
 * Runs tasks, a few at a time, and gives what each brings as soon as it is there. When one fails no other begins; those that
 * are under way are waited for and given too, and then it throws. A consumer that leaves ends them all.
 * @param concurrencyLimit how many may be under way at this moment, at least one
 * @throws the signal's reason; what the first one that failed threw
 */
export async function* mapUnordered<I, T>(
	items: readonly I[],
	concurrencyLimit: () => number,
	run: (item: I, signals: TaskSignals) => Promise<T>,
	signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
	const consumerLeft = new AbortController();
	const drain = new AbortController();
	const signals = { signal: AbortSignal.any([signal, consumerLeft.signal]), drainSignal: drain.signal };
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
		consumerLeft.abort(new Error('no longer wanted'));
		await Promise.all(inFlight.values());
	}
}
