import { AppError } from '../base/index.ts';

/** One request on the way to the answer. */
export interface Hop {
	url: URL;
	method: string;
	headers: Record<string, string>;
	body: string | Uint8Array | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that may go to another server too. Any other may carry a secret for the first one. */
const COMMON_HEADERS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

/** Headers that describe a body. */
const BODY_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'];

/** Whether a status sends the client elsewhere. */
export function isRedirect(status: number): boolean {
	return REDIRECTS.has(status);
}

/**
 * The request that follows a redirect, by the rules of the Fetch Standard (HTTP-redirect fetch), except that https never
 * leads to http and only common headers go to another server. The URL is not judged yet.
 * @param location the Location header
 * @throws AppError `unreadable_file`, or `url_not_allowed` for a step from https to http
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop {
	if (location === undefined) throw new AppError('unreadable_file', `The URL answered with status ${status} alone.`);
	let url: URL;
	try {
		url = new URL(location, hop.url);
	} catch {
		throw new AppError('unreadable_file', 'The URL redirects to something that is not a URL.');
	}
	if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
		throw new AppError('url_not_allowed', 'The URL redirects from https to http, which is not followed.');
	}
	const elsewhere = url.origin !== hop.url.origin;
	const headers = Object.fromEntries(
		Object.entries(hop.headers).filter(([name]) => !elsewhere || COMMON_HEADERS.has(name)),
	);
	const becomesGet =
		(status === 303 && hop.method !== 'GET' && hop.method !== 'HEAD') ||
		((status === 301 || status === 302) && hop.method === 'POST');
	if (!becomesGet) return { ...hop, url, headers };
	for (const name of BODY_HEADERS) delete headers[name];
	return { url, method: 'GET', headers, body: null };
}
