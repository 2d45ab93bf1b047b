import { AppError, clientNetwork } from '../base/index.ts';
import type { AttemptCounts, SignInAttempt } from './attempt-counts.ts';
import type { KnownDevice } from './device-cookies.ts';

/** Refunds an attempt that did not fail. */
export type Refund = () => Promise<void>;

/**
 * How often signing in may fail: from one address; for one account, over all addresses; and on one device that has signed in to
 * the account before. Attempts on a known device do not count for the account's other clients, nor theirs for it, so guesses from
 * elsewhere do not lock it out. Codes of a second factor are short, so they have a limit over all known devices of the account, too.
 *
 * Each method counts an attempt as failed before the password is checked, so that concurrent attempts cannot exceed the limit.
 */
export class SignInLimits {
	readonly #counts: AttemptCounts;

	constructor(counts: AttemptCounts) {
		this.#counts = counts;
	}

	/**
	 * Counts an attempt of a client that is not a known device of the account.
	 * @param email of the account, whether it exists or not
	 * @param address the client's
	 * @throws AppError `rate_limit_exceeded`
	 */
	async consume(email: string, address: string): Promise<Refund> {
		return this.#refundOrThrow(await this.#count(elsewhere(email, address)));
	}

	/** As `consume`, but null where the limit is reached. */
	async tryConsume(email: string, address: string): Promise<Refund | null> {
		const refundOrWait = await this.#count(elsewhere(email, address));
		return typeof refundOrWait === 'number' ? null : refundOrWait;
	}

	/**
	 * Counts an attempt of a known device.
	 * @param nonce the device's
	 * @throws AppError `rate_limit_exceeded`
	 */
	async consumeForDevice(nonce: string): Promise<Refund> {
		return this.#refundOrThrow(await this.#count([{ of: 'device', key: nonce }]));
	}

	/**
	 * Counts a code of a second factor from a known device.
	 * @throws AppError `rate_limit_exceeded`
	 */
	async consumeCodeForDevice({ nonce, userId }: KnownDevice): Promise<Refund> {
		const attempts: SignInAttempt[] = [
			{ of: 'device', key: nonce },
			{ of: 'device_code', key: userId },
		];
		return this.#refundOrThrow(await this.#count(attempts));
	}

	/** @returns the seconds to wait where a limit is reached */
	async #count(attempts: readonly SignInAttempt[]): Promise<Refund | number> {
		const wait = await this.#counts.count(attempts);
		return wait > 0 ? wait : () => this.#counts.refund(attempts);
	}

	#refundOrThrow(refundOrWait: Refund | number): Refund {
		if (typeof refundOrWait !== 'number') return refundOrWait;
		const sentence = `Signing in has failed too often. Try again in ${refundOrWait} seconds.`;
		throw new AppError('rate_limit_exceeded', sentence, { retry_after: refundOrWait });
	}
}

/** The address first: a rejected address may name any number of accounts, and each counted account takes memory. */
function elsewhere(email: string, address: string): SignInAttempt[] {
	return [
		{ of: 'address', key: clientNetwork(address) },
		{ of: 'account', key: email },
	];
}
