import { type AbortableRequest, AppError, SlicedWork, type WaitingWork } from '../base/index.ts';
import { ClientTurns } from './client-turns.ts';

/** Time after the first request of a turn of the event loop in which further ones start at once (ms). */
const START_MS = 0.25;
/** A body that is longer is large: what arrives of it is kept in memory while its request waits. */
const LARGE_BODY_BYTES = 64 * 1024;
/** Requests with large bodies that start at once in a turn. */
const MAX_LARGE_STARTS = 32;

/** A request as the queue sees it. */
export interface QueuedRequest extends AbortableRequest {
	readonly clientAddress: string;
	/** Announced bytes of its body. */
	readonly announcedBytes: number;
}

/**
 * Requests that wait for a later turn of the event loop. Without a queue, hundreds that arrive at once, as after a restart, would all start in
 * one turn, and each step of the requests that are running would wait for them. So only the first few start at once. The others start in
 * slices, one of each client after the other (round robin): a client with many requests waits for its own.
 */
export class RequestQueue implements WaitingWork {
	/** What starts each waiting request. */
	readonly #waiting = new ClientTurns<() => void>();
	readonly #slices = new SlicedWork(this);
	readonly #endTurn = (): void => {
		this.#turnStartedAt = null;
		this.#largeStarts = 0;
	};
	/** When the first request of this turn started (`performance.now()`). */
	#turnStartedAt: number | null = null;
	#largeStarts = 0;

	/** The requests that wait. */
	get size(): number {
		return this.#waiting.size;
	}

	/** Whether a request that has arrived now starts at once. */
	startsAtOnce({ announcedBytes }: Pick<QueuedRequest, 'announcedBytes'>): boolean {
		const isFirst = this.#turnStartedAt === null;
		// The callbacks of this turn's connections come before.
		if (isFirst) setImmediate(this.#endTurn);
		this.#turnStartedAt ??= performance.now();
		if (announcedBytes > LARGE_BODY_BYTES && this.#largeStarts < MAX_LARGE_STARTS) {
			this.#largeStarts++;
			return true;
		}
		return this.size === 0 && (isFirst || performance.now() - this.#turnStartedAt < START_MS);
	}

	/** Resolves when the request is to start. Rejects when it is aborted before. */
	wait(request: QueuedRequest): Promise<void> {
		return new Promise((resolve, reject) => {
			const start = (): void => {
				request.removeAbortListener(listener);
				resolve();
			};
			const listener = {
				onRequestAbort: (reason: unknown) => {
					this.#waiting.remove(start);
					reject(reason ?? new AppError('invalid_request', 'The client left before its request was started.'));
				},
			};
			this.#waiting.add(start, request.clientAddress);
			this.#slices.start();
			request.addAbortListener(listener);
		});
	}

	workOnNext(): void {
		this.#waiting.takeNext()?.();
	}
}
