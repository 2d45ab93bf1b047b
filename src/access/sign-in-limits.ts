import { AppError, type Clock, lineOf, SlidingWindow } from '../base/index.ts';

const MINUTE = 60_000;
const FAILURES_PER_MINUTE = 5;
/**
 * Accounts, and addresses, that are remembered: those alone that have failed or are being judged. A failure has cost a hash,
 * and a minute has time for some hundreds of those, so that nobody's failures are pushed out before they are a minute old.
 */
const KEYS = 50_000;

/** How often signing in may fail, for one account and from one address. */
export class SignInLimits {
	readonly #accounts: SlidingWindow;
	readonly #addresses: SlidingWindow;

	constructor(clock: Clock) {
		this.#accounts = new SlidingWindow(clock, MINUTE, KEYS);
		this.#addresses = new SlidingWindow(clock, MINUTE, KEYS);
	}

	/**
	 * Counts an attempt as failed before it is judged, so that of many at once no more are judged than may fail.
	 * @param email of the account, whether there is one or not
	 * @param address the client's
	 * @returns takes it back: the attempt did not fail
	 * @throws AppError `rate_limit_exceeded`
	 */
	take(email: string, address: string): () => void {
		const line = lineOf(address);
		// The address first: one that is refused names accounts without end, and each that is counted takes up room.
		const fromAddress = this.#addresses.take(line, FAILURES_PER_MINUTE);
		if (fromAddress > 0) throw tooMany(fromAddress);
		const ofAccount = this.#accounts.take(email, FAILURES_PER_MINUTE);
		if (ofAccount > 0) {
			this.#addresses.giveBack(line);
			throw tooMany(ofAccount);
		}
		return () => {
			this.#addresses.giveBack(line);
			this.#accounts.giveBack(email);
		};
	}
}

function tooMany(retry_after: number): AppError {
	const sentence = `Signing in has failed too often. Try again in ${retry_after} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after });
}
