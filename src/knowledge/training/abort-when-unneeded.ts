import { anySignal, PeriodicTask } from '../../base/index.ts';

/** Milliseconds between two checks. */
const CHECK_MS = 1_000;

/**
 * A signal for a training, which may take an hour. It aborts when the training is not needed any more, because its knowledge base
 * was deleted or its index is being replaced, and with the given signal. The checks end with the disposal.
 */
export function abortWhenUnneeded(
	isNeeded: () => Promise<boolean>,
	signal: AbortSignal,
): AsyncDisposable & { signal: AbortSignal } {
	const unneeded = new AbortController();
	const checks = new PeriodicTask({
		intervalMs: CHECK_MS,
		run: async () => {
			if (!(await isNeeded())) unneeded.abort(new Error('The training is not needed any more.'));
		},
		// The training itself fails if the database cannot be read for longer.
		onFailure: () => {},
	});
	checks.start();
	return { signal: anySignal(signal, unneeded.signal), [Symbol.asyncDispose]: () => checks[Symbol.asyncDispose]() };
}
