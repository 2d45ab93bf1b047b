import { isToken } from './secret-token.ts';

const NAME = 'parley_session';

/**
 * The cookie that carries a session's token (RFC 6265). Scripts cannot read it, and other sites' forms do not send it.
 * @param seconds for which the browser keeps it; 0 takes it away
 * @param secure only over https
 */
export function sessionCookie(token: string, seconds: number, secure: boolean): string {
	return `${NAME}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? '; Secure' : ''}`;
}

/** The session token in a Cookie header; null where there is none of its form. */
export function sessionTokenIn(cookies: string | undefined): string | null {
	if (cookies === undefined) return null;
	for (const pair of cookies.split(';')) {
		const [name, value = ''] = pair.trim().split('=', 2);
		if (name === NAME && isToken(value)) return value;
	}
	return null;
}
