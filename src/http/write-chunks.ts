import { setImmediate } from 'node:timers/promises';
import { type Deferred, deferred } from '../base/index.ts';
import type { ResponseChannel } from './response-channel.ts';
import { writeHead } from './response-head.ts';
import type { ChunkedResponse } from './types.ts';
import { endWithoutBody } from './write-bytes.ts';

/** Writes a body whose length is not known, chunk by chunk: the next one is made once the socket takes more. */
export class ChunkWriter {
	readonly #channel: ResponseChannel;
	readonly #response: ChunkedResponse;
	#isHeadWritten = false;
	#isClientGone = false;
	/** Resolves when the socket takes bytes again, or the client has left. */
	#writable: Deferred<void> | null = null;

	constructor(channel: ResponseChannel, response: ChunkedResponse) {
		this.#channel = channel;
		this.#response = response;
		channel.res.onWritable(() => {
			channel.stopStallTimer();
			this.#writable?.resolve();
			return true;
		});
	}

	/** Writes until the chunks end or fail, or the client leaves. It never rejects. */
	async run(): Promise<void> {
		try {
			for await (const chunk of this.#response.chunks) {
				if (this.#isClientGone) return;
				if (chunk.length > 0 && !this.#write(chunk)) await this.#waitUntilWritable();
				// Chunks that are always ready, for a client that always takes them, would block the event loop.
				await setImmediate();
				if (this.#isClientGone) return;
			}
			if (!this.#isClientGone) this.#end();
		} catch (error) {
			if (this.#isClientGone) return;
			this.#channel.reportStreamFailure(error);
			// Without the final chunk, so that the client does not take a part for the whole.
			this.#channel.closeNow();
		}
	}

	onClientGone(): void {
		this.#isClientGone = true;
		this.#writable?.resolve();
	}

	/** @returns whether the socket takes more at present */
	#write(chunk: string): boolean {
		const { res } = this.#channel;
		let ok = true;
		res.cork(() => {
			this.#writeHead();
			ok = res.write(chunk);
		});
		this.#channel.countStreamedBytes(chunk);
		if (ok) return true;
		this.#writable = deferred();
		this.#channel.startStallTimer();
		return false;
	}

	async #waitUntilWritable(): Promise<void> {
		await this.#writable?.promise;
		this.#writable = null;
	}

	#end(): void {
		const { res } = this.#channel;
		res.cork(() => {
			this.#writeHead();
			res.end();
		});
		this.#channel.release();
	}

	#writeHead(): void {
		if (this.#isHeadWritten) return;
		this.#isHeadWritten = true;
		writeChunkedHead(this.#channel, this.#response);
	}
}

/** Answers a HEAD request for a chunked response: its headers and nothing else. */
export function writeChunkedHeadOnly(channel: ResponseChannel, response: ChunkedResponse): void {
	channel.res.cork(() => {
		writeChunkedHead(channel, response);
		endWithoutBody(channel, false);
	});
	channel.release();
}

function writeChunkedHead({ res, requestId }: ResponseChannel, { headers }: ChunkedResponse): void {
	writeHead(res, requestId, { status: 200, headers });
}
