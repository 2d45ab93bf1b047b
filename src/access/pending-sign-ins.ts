import { createHash } from 'node:crypto';
import type { UserRecord } from '../store/index.ts';
import { SealedCookie, type SealedCookieOptions } from './sealed-cookie.ts';

/** A sign-in whose password was right, and whose code is missing. */
export interface PendingSignIn {
	userId: string;
	/** Of the password that was right: a new password ends the sign-in. */
	passwordDigest: string;
}

export type PendingSignInsOptions = Pick<SealedCookieOptions, 'secrets' | 'clock' | 'secure'>;

/** Sign-ins between their two steps. A sealed cookie holds the first step for five minutes, and serves only for the second. */
export class PendingSignIns {
	readonly #cookie: SealedCookie<PendingSignIn>;

	constructor(options: PendingSignInsOptions) {
		const purpose = 'pending sign-ins';
		this.#cookie = new SealedCookie({ name: 'parley_sign_in', purpose, lifetimeSeconds: 300, ...options });
	}

	/** The Set-Cookie header after the first step. */
	issue({ id, password_hash }: UserRecord): string {
		return this.#cookie.issue({ userId: id, passwordDigest: passwordDigest(password_hash) });
	}

	/** The Set-Cookie header that removes the cookie. */
	clear(): string {
		return this.#cookie.clear();
	}

	/** The pending sign-in of a Cookie header; null where there is none that is valid. */
	find(cookies: string | undefined): PendingSignIn | null {
		return this.#cookie.find(cookies);
	}
}

/** Names a password without its hash. */
export function passwordDigest(password_hash: string | null): string {
	return createHash('sha256').update(String(password_hash)).digest('base64url').slice(0, 22);
}
