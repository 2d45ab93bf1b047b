import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/**
 * The chunks of a stream, one by one. The stream's own iterator would copy those that wait into one. A caller that stops early leaves the
 * stream paused.
 * @throws the error with which the stream was destroyed
 */
export async function* singleChunks(stream: Readable): AsyncGenerator<Buffer> {
	const state: { chunk: Buffer | null; end: { error: unknown } | 'regular' | null } = { chunk: null, end: null };
	let wake = () => {};
	const take = (chunk: Buffer) => {
		state.chunk = chunk;
		stream.pause();
		wake();
	};
	const end = (how: typeof state.end) => {
		state.end = how;
		wake();
	};
	finished(stream, { writable: false }).then(
		() => end('regular'),
		(error: unknown) => end({ error }),
	);
	stream.on('data', take);
	try {
		for (;;) {
			const { chunk } = state;
			if (chunk !== null) {
				state.chunk = null;
				yield chunk;
				stream.resume();
			} else if (state.end === 'regular') return;
			else if (state.end !== null) throw state.end.error;
			else {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		}
	} finally {
		stream.off('data', take);
	}
}
