import type * as uWS from 'uWebSockets.js';
import { BodyBuffer } from './body-buffer.ts';
import { ChunkedBody } from './chunked-body.ts';
import type { DiscardedBody, DiscardThrottle } from './discard-throttle.ts';
import { UNKNOWN_LENGTH } from './framing.ts';
import type { HttpLimits } from './limits.ts';
import type { SmallChunkLimit } from './small-chunk-limit.ts';

/** What an incoming body needs from its exchange. */
export interface IncomingBodyOptions {
	/** `UNKNOWN_LENGTH` for a chunked body. */
	announcedBytes: number;
	limits: HttpLimits;
	discardThrottle: DiscardThrottle;
	smallChunkLimit: SmallChunkLimit;
	clientAddress(): string;
	/** Whether the library has taken its response back: then reading can be neither paused nor resumed. */
	isReleased(): boolean;
	/** The body's reader threw. */
	onError(error: unknown): void;
	/** The body must not be read further. */
	onTooManySmallChunks(): void;
}

/** Subscribes to a request's body at the HTTP library and passes its bytes to a buffer. */
export class IncomingBody implements DiscardedBody {
	readonly buffer: BodyBuffer;
	readonly #chunked: ChunkedBody | null;
	readonly #options: IncomingBodyOptions;

	constructor(res: uWS.HttpResponse, options: IncomingBodyOptions) {
		const { bodyIdleTimeoutMs, chunkedEndTimeoutMs } = options.limits;
		const flow = {
			pause: () => void (options.isReleased() || res.pause()),
			resume: () => void (options.isReleased() || res.resume()),
		};
		const buffer = new BodyBuffer(flow, bodyIdleTimeoutMs);
		const chunked =
			options.announcedBytes === UNKNOWN_LENGTH
				? new ChunkedBody(buffer, chunkedEndTimeoutMs, options.smallChunkLimit, () => options.onTooManySmallChunks())
				: null;
		this.buffer = buffer;
		this.#chunked = chunked;
		this.#options = options;
		const target = chunked ?? buffer;
		res.onData((chunk, last) => {
			try {
				target.push(new Uint8Array(chunk), last);
				if (buffer.isDiscarding && (last || !options.isReleased()))
					options.discardThrottle.onDiscarded(this, chunk.byteLength, last);
			} catch (error) {
				buffer.fail(error instanceof Error ? error : new Error(String(error)));
				options.onError(error);
			}
		});
	}

	get clientAddress(): string {
		return this.#options.clientAddress();
	}

	pause(): void {
		this.buffer.pause();
	}

	resume(): void {
		this.buffer.resume();
	}

	/** The response is written now. */
	end(): void {
		this.#options.discardThrottle.remove(this);
		this.buffer.end();
		this.#chunked?.stopTimer();
	}
}
