import type { Clock, SecretBox } from '../base/index.ts';
import { cookieValues, setCookie } from './cookies.ts';

/** The path of sign-in and of its steps. No other request carries the cookies. */
const COOKIE_PATH = '/api/v1/session';

export interface SealedCookieOptions {
	name: string;
	/** What it is sealed for: a value of another purpose cannot be put in its place. */
	purpose: string;
	lifetimeSeconds: number;
	secrets: SecretBox;
	clock: Clock;
	/** Whether the cookie goes over https only. */
	secure: boolean;
}

/** A short-lived cookie between two steps of a sign-in. The browser can neither read nor change its value. */
export class SealedCookie<T> {
	readonly #options: SealedCookieOptions;

	constructor(options: SealedCookieOptions) {
		this.#options = options;
	}

	/** The Set-Cookie header that gives the value to the browser. */
	issue(value: T): string {
		const { secrets, purpose, clock, lifetimeSeconds } = this.#options;
		const text = JSON.stringify([value, clock.now() + lifetimeSeconds * 1_000]);
		return this.#cookie(secrets.seal(text, purpose), lifetimeSeconds);
	}

	/** The Set-Cookie header that removes the cookie. */
	clear(): string {
		return this.#cookie('', 0);
	}

	/** The value in a Cookie header; null where there is none that is valid. */
	find(cookies: string | undefined): T | null {
		const { name, secrets, purpose, clock } = this.#options;
		const [sealed] = cookieValues(cookies, name);
		if (sealed === undefined) return null;
		try {
			const [value, expiresAt] = JSON.parse(secrets.open(sealed, purpose)) as [T, number];
			return expiresAt > clock.now() ? value : null;
		} catch {
			// Not a cookie of this server.
			return null;
		}
	}

	#cookie(value: string, seconds: number): string {
		const { name, secure } = this.#options;
		return setCookie(name, value, { path: COOKIE_PATH, seconds, secure });
	}
}
