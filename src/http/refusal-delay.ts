import { clientNetwork } from '../base/index.ts';
import type { BytesResponse } from './types.ts';

/** Statuses of refusals: without a valid credential, not allowed, over a limit. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

/** Refusals that one client network gets without delay in a second. People and well-behaved programs stay far below it. */
const IMMEDIATE_REFUSALS_PER_SECOND = 100;
const WINDOW_MS = 1_000;

/** For how long each further refusal is held back (ms). Meanwhile its connection cannot send another request. */
export const REFUSAL_DELAY_MS = 1_000;

/** Whether a response refuses its client something. */
export const isRefusal = ({ status }: BytesResponse): boolean => REFUSED_STATUSES.has(status);

/**
 * Slows down clients that are refused again and again (a tarpit). A client that sends the next request as soon as it has the refusal of
 * the last would otherwise use the whole processor for refusals, and everyone else would wait. Only refusals are delayed: other
 * clients behind the same address are answered as fast as always.
 */
export class RefusalDelay {
	/** Refusals of this second by client network: at most as many entries as requests in a second. */
	readonly #counts = new Map<string, number>();
	#windowBegan = Number.NEGATIVE_INFINITY;
	readonly #now: () => number;

	/** @param now milliseconds on a monotonic clock */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	/** Counts a refusal for the client network of an address. @returns whether the client must wait for it */
	mustWait(address: string): boolean {
		const now = this.#now();
		if (now - this.#windowBegan >= WINDOW_MS) {
			this.#windowBegan = now;
			this.#counts.clear();
		}
		const network = clientNetwork(address);
		const count = (this.#counts.get(network) ?? 0) + 1;
		this.#counts.set(network, count);
		return count > IMMEDIATE_REFUSALS_PER_SECOND;
	}
}
