/** A defect of a listener becomes an uncaught exception, but the other listeners are still called. */
export function callEach<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
	for (const listener of listeners) {
		try {
			listener(value);
		} catch (defect) {
			queueMicrotask(() => {
				throw defect;
			});
		}
	}
}
