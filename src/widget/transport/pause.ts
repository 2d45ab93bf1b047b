/** Waits; ends early, without an error, when the signal aborts or the browser is back online. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const over = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', over);
			removeEventListener('online', over);
			resolve();
		};
		const timer = setTimeout(over, ms);
		if (signal.aborted) over();
		signal.addEventListener('abort', over);
		addEventListener('online', over);
	});
}
