import { AppError } from '../base/index.ts';

/** One request of a chain of redirects. */
export interface OutgoingRequest {
	url: URL;
	method: string;
	headers: Record<string, string>;
	body: string | Uint8Array | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that may be sent to another origin. Any other header may carry a secret for the first origin. */
const CROSS_ORIGIN_HEADERS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

/** Headers that describe a body. */
const BODY_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'];

/** Whether a status is a redirect to another URL. */
export function isRedirect(status: number): boolean {
	return REDIRECTS.has(status);
}

/**
 * The request that follows a redirect, by the rules of the Fetch Standard (HTTP-redirect fetch), except that a redirect from
 * https to http is refused and only common headers are sent to another origin. The caller checks the URL.
 * @param location the Location header
 * @throws AppError `unreadable_file`, or `url_not_allowed` for a redirect from https to http
 */
export function followRedirect(
	previous: OutgoingRequest,
	status: number,
	location: string | undefined,
): OutgoingRequest {
	if (location === undefined) throw new AppError('unreadable_file', `The URL answered with status ${status} alone.`);
	let url: URL;
	try {
		url = new URL(location, previous.url);
	} catch {
		throw new AppError('unreadable_file', 'The URL redirects to something that is not a URL.');
	}
	if (previous.url.protocol === 'https:' && url.protocol === 'http:') {
		throw new AppError('url_not_allowed', 'The URL redirects from https to http, which is not followed.');
	}
	const isCrossOrigin = url.origin !== previous.url.origin;
	const headers = Object.fromEntries(
		Object.entries(previous.headers).filter(([name]) => !isCrossOrigin || CROSS_ORIGIN_HEADERS.has(name)),
	);
	const becomesGet =
		(status === 303 && previous.method !== 'GET' && previous.method !== 'HEAD') ||
		((status === 301 || status === 302) && previous.method === 'POST');
	if (!becomesGet) return { ...previous, url, headers };
	for (const name of BODY_HEADERS) delete headers[name];
	return { url, method: 'GET', headers, body: null };
}
