import { refusedAt } from './refusal.ts';

/** A token of RFC 9110 (5.6.2). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** What a field value cannot hold (RFC 9110, 5.5). */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

/** What is the connection's own (RFC 9110, 7.6.1), and what is told from the URL and the body. */
const OURS = new Set([
	'connection',
	'content-length',
	'expect',
	'host',
	'keep-alive',
	'proxy-authenticate',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

const SPEAKS_OF_A_SECRET =
	/auth(?!or(?!i[sz]))|cookie|credential|(?<!idempotency-)key|passw|secret|session|signature|token/i;

/**
 * Whether a header's value is kept secret. Its name tells: one that holds `auth`, `cookie`, `credential`, `key`, `passw`,
 * `secret`, `session`, `signature` or `token`, such as Authorization, Cookie, X-Api-Key, Private-Token. Rather a
 * harmless value hidden than a secret shown; but `author` and `idempotency-key` are no such words.
 */
export function isSecretHeader(name: string): boolean {
	return SPEAKS_OF_A_SECRET.test(name);
}

/** @throws AppError `invalid_request` for a name that is none, or that is not the user's to set */
export function requireHeaderName(place: readonly string[], name: string): void {
	if (!NAME.test(name)) throw refusedAt(place, 'is not the name of a header');
	if (OURS.has(name.toLowerCase())) throw refusedAt(place, 'is set by the server itself');
}

/** Whether a text has only characters that a field value can hold: no line break above all. */
export function mayStandInHeader(text: string): boolean {
	return !FORBIDDEN.test(text);
}

/** @throws AppError `invalid_request` */
export function requireHeaderValue(place: readonly string[], value: string): void {
	if (!mayStandInHeader(value)) throw refusedAt(place, 'has characters that a header cannot hold');
	if (/^[\t ]|[\t ]$/.test(value)) throw refusedAt(place, 'must not begin or end with white space');
}

/**
 * @param taken lower-case names of headers that are set elsewhere, and where
 * @throws AppError `invalid_request`
 */
export function requireHeaders(headers: Readonly<Record<string, string>>, taken: ReadonlyMap<string, string>): void {
	const seen = new Map(taken);
	for (const [name, value] of Object.entries(headers)) {
		const place = ['config', 'headers', name];
		requireHeaderName(place, name);
		requireHeaderValue(place, value);
		const other = seen.get(name.toLowerCase());
		if (other !== undefined) throw refusedAt(place, `is set by ${other} already`);
		seen.set(name.toLowerCase(), `the header ${name}`);
	}
}
