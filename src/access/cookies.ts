/** The value of a Set-Cookie header (RFC 6265). Scripts cannot read such a cookie, and other sites' forms do not send it. */
export function setCookie(
	name: string,
	value: string,
	{ path, seconds, secure }: { path: string /** 0 takes the cookie away. */; seconds: number; secure: boolean },
): string {
	return `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? '; Secure' : ''}`;
}

/** The values of all cookies of one name in a Cookie header, in order. */
export function cookieValues(cookies: string | undefined, name: string): string[] {
	if (cookies === undefined) return [];
	return cookies.split(';').flatMap((pair) => {
		const [pairName, value = ''] = pair.trim().split('=', 2);
		return pairName === name ? [value] : [];
	});
}
