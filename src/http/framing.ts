/** The length of a chunked body, which announces none. */
export const UNKNOWN_LENGTH = Number.POSITIVE_INFINITY;

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const LENGTH = /^\d{1,15}$/;
/** The characters of RFC 3986's authority without user information; a comma or a space would smuggle a second host. */
const HOST = /^[A-Za-z0-9\-._~%!$&'()*+;=:[\]]+$/;

/**
 * Reads how many body bytes a request announces from its method and its copied headers (name, value, name, value, …; lower-case
 * names). Ambiguous framing is rejected: request smuggling needs two parties that read one request differently (RFC 9112,
 * sections 3.2 and 6.3).
 * @returns the number of bytes, `UNKNOWN_LENGTH` for a chunked body, or a sentence that describes the error
 */
export function readFraming(method: string, headers: readonly string[]): number | string {
	// A proxy may take such a method for the end of the bytes before it.
	if (!TOKEN.test(method)) return 'The method of the request is not a token.';
	let host: string | undefined;
	let length: string | undefined;
	let coding: string | undefined;
	for (let at = 0; at < headers.length; at += 2) {
		const value = headers[at + 1] as string;
		switch (headers[at]) {
			case 'host':
				if (host !== undefined) return 'The request names more than one Host.';
				host = value;
				break;
			case 'content-length':
				if (length !== undefined) return 'The request has more than one Content-Length.';
				length = value;
				break;
			case 'transfer-encoding':
				if (coding !== undefined) return 'The request has more than one Transfer-Encoding.';
				coding = value;
				break;
		}
	}
	if (host === undefined || !HOST.test(host)) return 'The request needs one valid Host header.';
	if (coding !== undefined) {
		if (length !== undefined) return 'Transfer-Encoding and Content-Length exclude each other.';
		return coding === 'chunked' ? UNKNOWN_LENGTH : 'The only accepted Transfer-Encoding is "chunked".';
	}
	if (length === undefined) return 0;
	return LENGTH.test(length) ? Number(length) : 'The Content-Length is not a number of bytes.';
}
