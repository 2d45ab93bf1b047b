import { invalidRequestAt } from './invalid-request.ts';

/** A token of RFC 9110 (5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Characters that are not valid in a field value (RFC 9110, 5.5). */
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers of the connection (RFC 9110, 7.6.1), and headers that follow from the URL and the body. */
const RESERVED_HEADERS = new Set([
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

const SECRET_HEADER_NAME =
	/auth(?!or(?!i[sz]))|cookie|credential|(?<!idempotency-)key|passw|secret|session|signature|token/i;

/**
 * Whether a header's value is secret. That depends on its name: it contains `auth`, `cookie`, `credential`, `key`, `passw`,
 * `secret`, `session`, `signature` or `token`, as Authorization, Cookie, X-Api-Key and Private-Token do. A harmless value that
 * is hidden is better than a secret that is shown; `author` and `idempotency-key` are excluded.
 */
export function isSecretHeader(name: string): boolean {
	return SECRET_HEADER_NAME.test(name);
}

/** @throws AppError `invalid_request` for a name that is not valid, or that users may not set */
export function requireHeaderName(path: readonly string[], name: string): void {
	if (!HEADER_NAME.test(name)) throw invalidRequestAt(path, 'is not the name of a header');
	if (RESERVED_HEADERS.has(name.toLowerCase())) throw invalidRequestAt(path, 'is set by the server itself');
}

/** Whether a text has only characters that are valid in a field value, so no line break. */
export function isHeaderValue(text: string): boolean {
	return !FORBIDDEN_IN_VALUE.test(text);
}

/** @throws AppError `invalid_request` */
export function requireHeaderValue(path: readonly string[], value: string): void {
	if (!isHeaderValue(value)) throw invalidRequestAt(path, 'has characters that a header cannot hold');
	if (/^[\t ]|[\t ]$/.test(value)) throw invalidRequestAt(path, 'must not begin or end with white space');
}

/**
 * @param setElsewhere lower-case names of headers that are set elsewhere, and where
 * @throws AppError `invalid_request`
 */
export function requireHeaders(
	headers: Readonly<Record<string, string>>,
	setElsewhere: ReadonlyMap<string, string>,
): void {
	const seen = new Map(setElsewhere);
	for (const [name, value] of Object.entries(headers)) {
		const path = ['config', 'headers', name];
		requireHeaderName(path, name);
		requireHeaderValue(path, value);
		const other = seen.get(name.toLowerCase());
		if (other !== undefined) throw invalidRequestAt(path, `is set by ${other} already`);
		seen.set(name.toLowerCase(), `the header ${name}`);
	}
}
