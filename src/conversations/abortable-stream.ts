/** The events of a stream until the signal aborts; then its reason, whether or not the stream itself takes notice. */
export async function* abortableStream<T>(
	stream: AsyncIterable<T>,
	signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
	const iterator = stream[Symbol.asyncIterator]();
	let abort = () => {};
	const aborted = new Promise<never>((_, reject) => {
		abort = () => reject(signal.reason);
		signal.addEventListener('abort', abort, { once: true });
	});
	aborted.catch(() => {});
	let ended = false;
	try {
		while (true) {
			if (signal.aborted) throw signal.reason;
			const next = await Promise.race([iterator.next(), aborted]);
			ended = next.done === true;
			if (next.done) return;
			yield next.value;
		}
	} finally {
		signal.removeEventListener('abort', abort);
		// Not awaited: a stream that ignores the signal may ignore this as well.
		if (!ended) iterator.return?.()?.then(undefined, () => {});
	}
}
