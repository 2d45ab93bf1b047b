/** What stands on the last line of a stream of the chat-completions protocol. */
const DONE = '[DONE]';
const DONE_LINE = /(?:^|[\r\n])data: ?\[DONE\][\r\n]/;
/** Characters before a piece in which the beginning of that line may be. */
const TAIL = 16;
/** After that line the stream is given so long to end by itself, which keeps its connection for the next. */
const LAST_MS = 1_000;

/**
 * The same answer, ended soon after the last line of its protocol: a library that waits for the end of the body would take
 * an answer that is complete for one that hangs, where a service or a proxy keeps its connection open.
 */
export function endingAtDone(response: Response): Response {
	if (response.body === null) return response;
	const reader = response.body.getReader();
	let tail = '';
	let late: Promise<null> | undefined;
	const source = {
		async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
			const reading = reader.read();
			const next = await (late === undefined ? reading : Promise.race([reading, late]));
			if (next === null || next.done) {
				controller.close();
				if (next === null) await reader.cancel();
				return;
			}
			const text = tail + Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length).toString('latin1');
			if (text.includes(DONE) && DONE_LINE.test(text)) late ??= nothingAfter(LAST_MS);
			tail = text.slice(-TAIL);
			controller.enqueue(next.value);
		},
		cancel: (reason: unknown) => reader.cancel(reason),
	};
	const { status, headers } = response;
	return new Response(new ReadableStream(source, { highWaterMark: 0 }), { status, headers });
}

function nothingAfter(ms: number): Promise<null> {
	return new Promise((resolve) => {
		setTimeout(resolve, ms, null).unref();
	});
}
