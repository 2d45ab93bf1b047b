import { AppError } from '../base/index.ts';
import type { UserRecord } from '../store/index.ts';
import { type PendingSignIn, passwordDigest } from './pending-sign-ins.ts';
import { SealedCookie, type SealedCookieOptions } from './sealed-cookie.ts';

export interface PasswordSignInOptions extends Pick<SealedCookieOptions, 'secrets' | 'clock' | 'secure'> {
	/** Whether people sign in with passwords. */
	isEnabled: boolean;
}

/**
 * Who may sign in with a password. Where the settings switch passwords off, an owner's link is the way back in: the browser that has
 * set the password by it may sign in with that password for a quarter of an hour.
 */
export class PasswordSignIn {
	readonly #isEnabled: boolean;
	readonly #permit: SealedCookie<PendingSignIn>;

	constructor({ isEnabled, ...options }: PasswordSignInOptions) {
		this.#isEnabled = isEnabled;
		const purpose = 'password permits';
		this.#permit = new SealedCookie({ name: 'parley_password', purpose, lifetimeSeconds: 900, ...options });
	}

	/** Whether a browser may try a password. @param cookies the request's Cookie header */
	isOfferedTo(cookies: string | undefined): boolean {
		return this.#isEnabled || this.#permit.find(cookies) !== null;
	}

	/**
	 * Before a password is verified, so that a refusal tells nothing about it.
	 * @throws AppError `password_sign_in_disabled`
	 */
	requireOffered(cookies: string | undefined): void {
		if (!this.isOfferedTo(cookies)) throw new AppError('password_sign_in_disabled');
	}

	/** Whether a browser may sign in to this account with its password. */
	isAllowed({ id, password_hash }: UserRecord, cookies: string | undefined): boolean {
		if (this.#isEnabled) return true;
		const permit = this.#permit.find(cookies);
		return permit?.userId === id && permit.passwordDigest === passwordDigest(password_hash);
	}

	/** A link sets the password of this user. @throws AppError `password_sign_in_disabled` */
	requireSettable({ role }: Pick<UserRecord, 'role'>): void {
		if (!this.#isEnabled && role !== 'owner') throw new AppError('password_sign_in_disabled');
	}

	/** The Set-Cookie header for the browser that has set a password by its link; null where passwords are on anyway. */
	permit({ id, password_hash }: UserRecord): string | null {
		if (this.#isEnabled) return null;
		return this.#permit.issue({ userId: id, passwordDigest: passwordDigest(password_hash) });
	}
}
