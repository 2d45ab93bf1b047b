/** A defect of a listener becomes an uncaught exception, but the other listeners are still called. */
export function callEach<T extends unknown[]>(listeners: ReadonlySet<(...values: T) => void>, ...values: T): void {
	for (const listener of listeners) {
		try {
			listener(...values);
		} catch (defect) {
			queueMicrotask(() => {
				throw defect;
			});
		}
	}
}
