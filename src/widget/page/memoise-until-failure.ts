/** Loads a value once for all callers, and again after a failure. */
export function memoiseUntilFailure<T>(load: () => Promise<T>): () => Promise<T> {
	let promise: Promise<T> | null = null;
	return () => {
		promise ??= load().catch((error) => {
			promise = null;
			throw error;
		});
		return promise;
	};
}
