/** Waits; ends early, without an error, when the signal aborts or the browser is back online. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', end);
			removeEventListener('online', end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		if (signal.aborted) end();
		signal.addEventListener('abort', end);
		addEventListener('online', end);
	});
}
