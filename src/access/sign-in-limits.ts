import { createHash } from 'node:crypto';
import { AppError, type Clock, clientNetwork, SlidingWindowLimiter } from '../base/index.ts';
import type { KnownDevice } from './device-cookies.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ADDRESS_FAILURES_PER_MINUTE = 5;
const DEVICE_FAILURES_PER_MINUTE = 5;
const ACCOUNT_FAILURES_PER_HOUR = 20;
/**
 * Entries of each limit: only attempts that have failed or are in progress. A failure costs a hash, and the server computes some
 * hundreds a minute and some ten thousand an hour, so no failure is evicted before it expires.
 */
const MAX_TRACKED_ADDRESSES = 50_000;
const MAX_TRACKED_ACCOUNTS = 100_000;
const MAX_TRACKED_DEVICES = 50_000;

/** Refunds an attempt that did not fail. */
export type Refund = () => void;

/**
 * How often signing in may fail: from one address; for one account, over all addresses; and on one device that has signed in to
 * the account before. Attempts on a known device do not count for the account's other clients, nor theirs for it, so guesses from
 * elsewhere do not lock it out. Codes of a second factor are short, so they have a limit over all known devices of the account, too.
 *
 * Each method counts an attempt as failed before the password is checked, so that concurrent attempts cannot exceed the limit.
 */
export class SignInLimits {
	readonly #addresses: SlidingWindowLimiter;
	readonly #accounts: SlidingWindowLimiter;
	readonly #devices: SlidingWindowLimiter;
	/** Codes on known devices, by account. */
	readonly #deviceCodes: SlidingWindowLimiter;

	constructor(clock: Clock) {
		this.#addresses = new SlidingWindowLimiter(clock, MINUTE, MAX_TRACKED_ADDRESSES);
		this.#accounts = new SlidingWindowLimiter(clock, HOUR, MAX_TRACKED_ACCOUNTS);
		this.#devices = new SlidingWindowLimiter(clock, MINUTE, MAX_TRACKED_DEVICES);
		this.#deviceCodes = new SlidingWindowLimiter(clock, HOUR, MAX_TRACKED_ACCOUNTS);
	}

	/**
	 * Counts an attempt of a client that is not a known device of the account.
	 * @param email of the account, whether it exists or not
	 * @param address the client's
	 * @throws AppError `rate_limit_exceeded`
	 */
	consume(email: string, address: string): Refund {
		const refundOrWait = this.#consumeBoth(email, address);
		if (typeof refundOrWait === 'number') throw signInLimitError(refundOrWait);
		return refundOrWait;
	}

	/** As `consume`, but null where the limit is reached. */
	tryConsume(email: string, address: string): Refund | null {
		const refundOrWait = this.#consumeBoth(email, address);
		return typeof refundOrWait === 'number' ? null : refundOrWait;
	}

	/**
	 * Counts an attempt of a known device.
	 * @param nonce the device's
	 * @throws AppError `rate_limit_exceeded`
	 */
	consumeForDevice(nonce: string): Refund {
		const wait = this.#devices.tryConsume(nonce, DEVICE_FAILURES_PER_MINUTE);
		if (wait > 0) throw signInLimitError(wait);
		return () => this.#devices.refund(nonce);
	}

	/**
	 * Counts a code of a second factor from a known device.
	 * @throws AppError `rate_limit_exceeded`
	 */
	consumeCodeForDevice({ nonce, userId }: KnownDevice): Refund {
		const refundDevice = this.consumeForDevice(nonce);
		const wait = this.#deviceCodes.tryConsume(userId, ACCOUNT_FAILURES_PER_HOUR);
		if (wait > 0) {
			refundDevice();
			throw signInLimitError(wait);
		}
		return () => {
			refundDevice();
			this.#deviceCodes.refund(userId);
		};
	}

	#consumeBoth(email: string, address: string): Refund | number {
		const network = clientNetwork(address);
		const account = accountKey(email);
		// The address first: a rejected address may name any number of accounts, and each counted account takes memory.
		const addressWait = this.#addresses.tryConsume(network, ADDRESS_FAILURES_PER_MINUTE);
		if (addressWait > 0) return addressWait;
		const accountWait = this.#accounts.tryConsume(account, ACCOUNT_FAILURES_PER_HOUR);
		if (accountWait > 0) {
			this.#addresses.refund(network);
			return accountWait;
		}
		return () => {
			this.#addresses.refund(network);
			this.#accounts.refund(account);
		};
	}
}

/** A key of fixed length for an email of any length. */
function accountKey(email: string): string {
	return createHash('sha256').update(email).digest('base64url').slice(0, 22);
}

function signInLimitError(retry_after: number): AppError {
	const sentence = `Signing in has failed too often. Try again in ${retry_after} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after });
}
