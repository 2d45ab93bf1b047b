import { type AbortableRequest, AppError, clientNetwork, SlicedWork, type WaitingWork } from '../base/index.ts';

/** Time after the first request of a turn of the event loop in which further ones start at once (ms). */
const START_MS = 1;
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
	/** What starts each waiting request, by client. The client whose turn it is comes first. No set is empty. */
	readonly #clients = new Map<string, Set<() => void>>();
	/** Goes through the clients, those that are added meanwhile included. */
	#order = this.#clients.entries();
	readonly #slices = new SlicedWork(this);
	readonly #endTurn = (): void => {
		this.#turnStartedAt = null;
		this.#largeStarts = 0;
	};
	/** When the first request of this turn started (`performance.now()`). */
	#turnStartedAt: number | null = null;
	#largeStarts = 0;
	#size = 0;

	/** The requests that wait. */
	get size(): number {
		return this.#size;
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
		return this.#size === 0 && (isFirst || performance.now() - this.#turnStartedAt < START_MS);
	}

	/** Resolves when the request is to start. Rejects when it is aborted before. */
	wait(request: QueuedRequest): Promise<void> {
		return new Promise((resolve, reject) => {
			// Addresses of one IPv6 network are one client.
			const client = clientNetwork(request.clientAddress);
			const start = (): void => {
				request.removeAbortListener(listener);
				resolve();
			};
			const listener = {
				onRequestAbort: (reason: unknown) => {
					this.#remove(client, start);
					reject(reason ?? new AppError('invalid_request', 'The client left before its request was started.'));
				},
			};
			this.#add(client, start);
			request.addAbortListener(listener);
		});
	}

	workOnNext(): void {
		let next = this.#order.next();
		if (next.done) {
			this.#order = this.#clients.entries();
			next = this.#order.next();
		}
		const [client, own] = next.value as [string, Set<() => void>];
		const start = own.values().next().value as () => void;
		this.#remove(client, start);
		// Its next request comes after one of each other client, those that have come meanwhile included.
		if (own.size > 0) {
			this.#clients.delete(client);
			this.#clients.set(client, own);
		}
		start();
	}

	#add(client: string, start: () => void): void {
		const own = this.#clients.get(client);
		if (own === undefined) this.#clients.set(client, new Set([start]));
		else own.add(start);
		this.#size++;
		this.#slices.start();
	}

	#remove(client: string, start: () => void): void {
		const own = this.#clients.get(client);
		if (own === undefined || !own.delete(start)) return;
		this.#size--;
		if (own.size === 0) this.#clients.delete(client);
	}
}
