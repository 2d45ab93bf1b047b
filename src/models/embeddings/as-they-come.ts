/** What a task heeds. */
export interface Ending {
	/** Nobody wants it any more: it ends at once. */
	signal: AbortSignal;
	/** Another one has failed: it finishes what is under way, and begins nothing. */
	lastOrders: AbortSignal;
}

type Landed<T> = { ok: true; place: number; value: T } | { ok: false; place: number; thrown: unknown };

/**
 * Runs tasks, a few at a time, and gives what each brings as soon as it is there. When one fails no other begins; those that
 * are under way are waited for and given too, and then it throws. A consumer that leaves ends them all.
 * @param room how many may be under way at this moment, at least one
 * @throws the signal's reason; what the first one that failed threw
 */
export async function* asTheyCome<I, T>(
	items: readonly I[],
	room: () => number,
	run: (item: I, ending: Ending) => Promise<T>,
	signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
	const left = new AbortController();
	const refused = new AbortController();
	const ending = { signal: AbortSignal.any([signal, left.signal]), lastOrders: refused.signal };
	const underWay = new Map<number, Promise<Landed<T>>>();
	const land = (place: number, promise: Promise<T>): Promise<Landed<T>> =>
		promise.then(
			(value) => ({ ok: true, place, value }),
			(thrown: unknown) => ({ ok: false, place, thrown }),
		);
	let next = 0;
	let failed: { thrown: unknown } | undefined;
	try {
		for (;;) {
			signal.throwIfAborted();
			while (failed === undefined && next < items.length && underWay.size < room()) {
				underWay.set(next, land(next, run(items[next] as I, ending)));
				next++;
			}
			if (underWay.size === 0) break;
			const landed = await Promise.race(underWay.values());
			underWay.delete(landed.place);
			if (landed.ok) yield landed.value;
			else {
				failed ??= landed;
				refused.abort(landed.thrown);
			}
		}
		if (failed) throw failed.thrown;
	} finally {
		left.abort(new Error('no longer wanted'));
		await Promise.all(underWay.values());
	}
}
