/** Asks for something once, for all who want it; again where it could not be had. */
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
