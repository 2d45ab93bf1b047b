import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UserRecord } from '../store/index.ts';
import { cookieValues, setCookie } from './cookies.ts';

const COOKIE_NAME = 'parley_device';
/** The path of sign-in and of setting a password. No other request carries the cookie. */
const COOKIE_PATH = '/api/v1/session';
const LIFETIME_SECONDS = 365 * 24 * 3_600;
const NONCE_BYTES = 16;
const NONCE_LENGTH = 22;
/** A nonce and an HMAC-SHA-256, both in base64url. */
const DEVICE_TOKEN_PATTERN = /^[\w-]{65}$/;
/** Accounts for which one browser is a known device. One more drops the oldest. */
const MAX_TOKENS = 4;

/** A browser that has signed in to an account before. */
export interface KnownDevice {
	userId: string;
	/** Distinguishes the devices of an account. */
	nonce: string;
}

type Account = Pick<UserRecord, 'id' | 'password_hash' | 'totp'>;

/**
 * Device cookies (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"): a browser that has signed in to an account
 * keeps a signed token for it. Its failed sign-ins are counted separately, so guesses from elsewhere cannot lock it out.
 *
 * A token is no credential. Its signature covers the account's id, a nonce, the stored password hash and the time at which a second
 * factor was set up: a new password or second factor invalidates all tokens of the account without a list of them. So a browser that
 * signed in with the password alone is no known device for guesses of codes.
 */
export class DeviceCookies {
	readonly #key: Buffer;
	readonly #secure: boolean;

	/**
	 * @param key signs the tokens
	 * @param secure whether the cookie goes over https only
	 */
	constructor(key: Buffer, secure: boolean) {
		this.#key = key;
		this.#secure = secure;
	}

	/** Whether a Cookie header holds something that looks like a token. Its validity depends on the account. */
	hasTokenIn(cookies: string | undefined): boolean {
		return tokensIn(cookies).length > 0;
	}

	/** The known device of the first of these accounts for which a Cookie header has a valid token. */
	find(cookies: string | undefined, accounts: readonly Account[]): KnownDevice | null {
		for (const token of tokensIn(cookies)) {
			const account = accounts.find((each) => this.#isFor(each, token));
			if (account) return { userId: account.id, nonce: nonceOf(token) };
		}
		return null;
	}

	/** The Set-Cookie header that makes the browser a known device of an account; other accounts' tokens stay. */
	issue(account: Account, cookies: string | undefined): string {
		const nonce = randomBytes(NONCE_BYTES).toString('base64url');
		const others = tokensIn(cookies).filter((token) => !this.#isFor(account, token));
		const tokens = [nonce + this.#sign(account, nonce), ...others].slice(0, MAX_TOKENS);
		return setCookie(COOKIE_NAME, tokens.join('.'), {
			path: COOKIE_PATH,
			seconds: LIFETIME_SECONDS,
			secure: this.#secure,
		});
	}

	#isFor(account: Account, token: string): boolean {
		if (account.password_hash === null) return false;
		const expected = this.#sign(account, nonceOf(token));
		return timingSafeEqual(Buffer.from(token.slice(NONCE_LENGTH)), Buffer.from(expected));
	}

	#sign({ id, password_hash, totp }: Account, nonce: string): string {
		const enabledAt = totp?.enabled_at ?? null;
		const secondFactor = enabledAt === null ? '' : `\n${enabledAt}`;
		return createHmac('sha256', this.#key)
			.update(`${id}\n${nonce}\n${password_hash}${secondFactor}`)
			.digest('base64url');
	}
}

function tokensIn(cookies: string | undefined): string[] {
	const values = cookieValues(cookies, COOKIE_NAME);
	return values
		.flatMap((value) => value.split('.', MAX_TOKENS).filter((token) => DEVICE_TOKEN_PATTERN.test(token)))
		.slice(0, MAX_TOKENS);
}

function nonceOf(token: string): string {
	return token.slice(0, NONCE_LENGTH);
}
