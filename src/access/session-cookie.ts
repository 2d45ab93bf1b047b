import { cookieValues, setCookie } from './cookies.ts';
import { isTokenShaped } from './secret-token.ts';

const COOKIE_NAME = 'parley_session';

/**
 * The Set-Cookie header of the cookie that carries a session's token.
 * @param seconds for which the browser keeps it; 0 removes it
 * @param secure only over https
 */
export function sessionCookie(token: string, seconds: number, secure: boolean): string {
	return setCookie(COOKIE_NAME, token, { path: '/', seconds, secure });
}

/** The session token in a Cookie header; null where there is no well-formed one. */
export function sessionTokenIn(cookies: string | undefined): string | null {
	return cookieValues(cookies, COOKIE_NAME).find(isTokenShaped) ?? null;
}
