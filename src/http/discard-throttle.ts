import { ClientTurns } from './client-turns.ts';

const PERIOD_MS = 8;
/** Bytes that are discarded in a period, those of all clients together: at most 125 MiB/s, about a gigabit network. */
const PERIOD_BYTES = 1024 * 1024;
/** Each delivery counts as at least this many bytes, because many tiny chunks cost time, too. */
const MIN_COUNTED_BYTES = 4 * 1024;
/** Bytes that exceed a period count in later ones, up to this number. */
const MAX_EXCESS_BYTES = 4 * PERIOD_BYTES;
/** After this number of periods without a turn, the next body has its turn in any case. */
const MAX_PERIODS_WITHOUT_TURN = 4;

/** A body that is discarded. */
export interface DiscardedBody {
	readonly clientAddress: string;
	/** Pauses reading from its client. */
	pause(): void;
	resume(): void;
}

/**
 * Limits how fast bodies are discarded, for example those of refused requests. They are read at all so that their clients get the response. Without a
 * limit, clients with fast connections and large bodies would use a whole processor. A pause does not stop what the kernel has already
 * received, so a period may be exceeded; others have their turns nevertheless.
 */
export class DiscardThrottle {
	/** Bodies that are paused until their turn. */
	readonly #paused = new ClientTurns<DiscardedBody>();
	readonly #beginPeriod = (): void => {
		this.#bytes = Math.min(Math.max(0, this.#bytes - PERIOD_BYTES), MAX_EXCESS_BYTES);
		this.#periodsWithoutTurn++;
		const isOver = this.#bytes === 0 && this.#paused.size === 0;
		this.#timer = isOver ? null : setTimeout(this.#beginPeriod, PERIOD_MS);
		this.#next ??= setImmediate(this.#resumeNext);
	};
	/** Resumes one body in each iteration of the event loop, which reads it, until the bytes of the period are used up. */
	readonly #resumeNext = (): void => {
		this.#next = null;
		if (this.#bytes >= PERIOD_BYTES && this.#periodsWithoutTurn < MAX_PERIODS_WITHOUT_TURN) return;
		const body = this.#paused.takeNext();
		if (body === undefined) return;
		this.#periodsWithoutTurn = 0;
		body.resume();
		this.#next = setImmediate(this.#resumeNext);
	};
	/** Runs while bytes are discarded. */
	#timer: NodeJS.Timeout | null = null;
	/** Calls `#resumeNext`. */
	#next: NodeJS.Immediate | null = null;
	/** Bytes discarded in this period, and those that exceeded the periods before. */
	#bytes = 0;
	#periodsWithoutTurn = 0;

	/** Counts bytes of a body that were discarded. Pauses the body until its turn if they are too many; not if they are its last. */
	onDiscarded(body: DiscardedBody, bytes: number, last: boolean): void {
		this.#bytes += Math.max(bytes, MIN_COUNTED_BYTES);
		this.#timer ??= setTimeout(this.#beginPeriod, PERIOD_MS);
		if (last) this.remove(body);
		else if (this.#bytes >= PERIOD_BYTES) {
			body.pause();
			this.#paused.add(body, body.clientAddress);
		}
	}

	/** Forgets a body whose response is written or whose client has left. */
	remove(body: DiscardedBody): void {
		this.#paused.remove(body);
	}
}
