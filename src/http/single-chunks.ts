import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Smaller chunks are joined with those that wait: each has a fixed cost for its reader. */
const SMALL_BYTES = 16 * 1024;

/**
 * The chunks of a stream as they are. The stream's own iterator would always join the chunks that wait into a new buffer. A caller that stops
 * early leaves the stream paused.
 * @throws the stream's error; ERR_STREAM_PREMATURE_CLOSE if it was destroyed without one
 */
export async function* singleChunks(stream: Readable): AsyncGenerator<Buffer> {
	const state: { end: { error: unknown } | 'regular' | null } = { end: null };
	let chunks: Buffer[] = [];
	let wake = () => {};
	const take = (chunk: Buffer) => {
		chunks.push(chunk);
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
			const [first] = chunks;
			if (first !== undefined) {
				// The stream passes what it reads to `take`.
				if (first.length < SMALL_BYTES && stream.readableLength > 0) stream.read();
				const chunk = chunks.length === 1 ? first : Buffer.concat(chunks);
				chunks = [];
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
