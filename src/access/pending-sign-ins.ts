import { createHash } from 'node:crypto';
import type { Clock, SecretBox } from '../base/index.ts';
import type { UserRecord } from '../store/index.ts';
import { cookieValues, setCookie } from './cookies.ts';

const COOKIE_NAME = 'parley_sign_in';
/** The path of sign-in and of its second step. No other request carries the cookie. */
const COOKIE_PATH = '/api/v1/session';
const LIFETIME_SECONDS = 300;
const SEAL_PURPOSE = 'pending sign-ins';

/** A sign-in whose password was right, and whose code is missing. */
export interface PendingSignIn {
	userId: string;
	/** Of the password that was right: a new password ends the sign-in. */
	passwordDigest: string;
}

export interface PendingSignInsOptions {
	secrets: SecretBox;
	clock: Clock;
	/** Whether the cookie goes over https only. */
	secure: boolean;
}

/** Sign-ins between their two steps. A sealed cookie holds the first step for five minutes, and serves only for the second. */
export class PendingSignIns {
	readonly #secrets: SecretBox;
	readonly #clock: Clock;
	readonly #secure: boolean;

	constructor({ secrets, clock, secure }: PendingSignInsOptions) {
		this.#secrets = secrets;
		this.#clock = clock;
		this.#secure = secure;
	}

	/** The Set-Cookie header after the first step. */
	issue({ id, password_hash }: UserRecord): string {
		const expiresAt = this.#clock.now() + LIFETIME_SECONDS * 1_000;
		const text = JSON.stringify([id, passwordDigest(password_hash), expiresAt]);
		return this.#cookie(this.#secrets.seal(text, SEAL_PURPOSE), LIFETIME_SECONDS);
	}

	/** The Set-Cookie header that removes the cookie. */
	clear(): string {
		return this.#cookie('', 0);
	}

	/** The pending sign-in of a Cookie header; null where there is none that is valid. */
	find(cookies: string | undefined): PendingSignIn | null {
		const [sealed] = cookieValues(cookies, COOKIE_NAME);
		if (sealed === undefined) return null;
		try {
			const [userId, digest, expiresAt] = JSON.parse(this.#secrets.open(sealed, SEAL_PURPOSE));
			return expiresAt > this.#clock.now() ? { userId, passwordDigest: digest } : null;
		} catch {
			// Not a cookie of this server.
			return null;
		}
	}

	#cookie(value: string, seconds: number): string {
		return setCookie(COOKIE_NAME, value, { path: COOKIE_PATH, seconds, secure: this.#secure });
	}
}

/** Names a password without its hash. */
export function passwordDigest(password_hash: string | null): string {
	return createHash('sha256').update(String(password_hash)).digest('base64url').slice(0, 22);
}
