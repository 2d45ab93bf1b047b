/** The sources of each combined signal, held for as long as somebody holds the combined signal. */
const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * A signal that aborts with the first of `signals`, for its reason; undefined ones are left out. Use it in place of
 * `AbortSignal.any`, which holds its sources weakly: Node 20 collects an `AbortSignal.timeout` that nothing else holds, and
 * its abort never comes (nodejs/node issue 57736).
 */
export function anySignal(...signals: ReadonlyArray<AbortSignal | undefined>): AbortSignal {
	const sources = signals.filter((signal) => signal !== undefined);
	const combined = AbortSignal.any(sources);
	sourcesOf.set(combined, sources);
	return combined;
}
