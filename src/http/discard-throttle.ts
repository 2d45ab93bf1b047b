import { ClientTurns } from './client-turns.ts';

const PERIOD_MS = 8;
/** Bytes that are discarded in a period, those of all clients together: 128 MiB/s, about a gigabit network. */
const PERIOD_BYTES = 1024 * 1024;
/** A delivery counts at least as many bytes: many tiny chunks cost time, too. */
const MIN_COUNTED_BYTES = 4 * 1024;

/** A body that is discarded. */
export interface DiscardedBody {
	readonly clientAddress: string;
	/** Pauses reading from its client. */
	pause(): void;
	resume(): void;
}

/**
 * Limits how fast bodies of refused requests are discarded. They are read at all so that their clients get the response. Without a
 * limit, clients with fast connections and large bodies would use a whole processor. What the HTTP library has already read counts, but
 * delays only the period in which it arrives.
 */
export class DiscardThrottle {
	/** Bodies that are paused until their turn. */
	readonly #paused = new ClientTurns<DiscardedBody>();
	readonly #beginPeriod = (): void => {
		this.#bytes = 0;
		this.#timer = this.#paused.size === 0 ? null : setTimeout(this.#beginPeriod, PERIOD_MS);
		// It is read until the bytes of the period are used up, as are those that were never paused.
		this.#paused.takeNext()?.resume();
	};
	/** Runs while bytes are discarded. */
	#timer: NodeJS.Timeout | null = null;
	/** Bytes discarded in this period. */
	#bytes = 0;

	/** Counts bytes of a body that were discarded. Pauses the body until its turn if they are too many; not if they are its last. */
	onDiscarded(body: DiscardedBody, bytes: number, last: boolean): void {
		this.#bytes += Math.max(bytes, MIN_COUNTED_BYTES);
		this.#timer ??= setTimeout(this.#beginPeriod, PERIOD_MS);
		if (last || this.#bytes < PERIOD_BYTES) return;
		body.pause();
		this.#paused.add(body, body.clientAddress);
	}

	/** Forgets a body whose response is written or whose client has left. */
	remove(body: DiscardedBody): void {
		this.#paused.remove(body);
	}
}
