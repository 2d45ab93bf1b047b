/** Asks for something once, for all who want it; again where it could not be had. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
	let asked: Promise<T> | null = null;
	return () => {
		asked ??= ask().catch((error) => {
			asked = null;
			throw error;
		});
		return asked;
	};
}
