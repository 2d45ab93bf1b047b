import type { Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { ACCEPTED_ENCODINGS, decode, tooLarge } from './decode.ts';
import { Ending } from './ending.ts';
import { connectionFailure, drop, flatHeaders, headerOf, send } from './exchange.ts';
import type { Guard } from './guard.ts';
import { type Hop, isRedirect, nextHop } from './redirect.ts';

/** How a download is made and bounded. */
export interface DownloadOptions {
	/** What is fetched: downloads for one purpose wait for none for another. Default `document`. */
	purpose?: 'document' | 'key_set';
	/** Ends it; what is under way then throws the signal's reason. */
	signal?: AbortSignal;
	/** Milliseconds for everything: names, connections, redirects, and the last byte of the body. Default 15,000. */
	timeoutMs?: number;
	/** Bytes of the body as sent. Default 10 MB. */
	maxWireBytes?: number;
	/** Bytes of the body after decompression. Default 20 MB. */
	maxDecodedBytes?: number;
	/** Redirects that are followed, each judged anew. Default 3. */
	maxRedirects?: number;
	/** Only https, also after redirects (unless private networks are allowed). */
	httpsOnly?: boolean;
	method?: 'GET' | 'POST';
	/** Those that concern the connection or the coding are left out. */
	headers?: Readonly<Record<string, string>>;
	body?: string | Uint8Array;
}

/** An answer with a status of 2xx whose body is still to be read. To be disposed of where it is not read to its end. */
export interface Download extends AsyncDisposable {
	/** Where the answer came from, after redirects. */
	readonly finalUrl: string;
	readonly status: number;
	/** By lower-case name; repeated headers are joined by a comma. */
	readonly headers: Readonly<Record<string, string>>;
	/** The decoded bytes, to be read once. Throws AppError `unreadable_file` where they break off or are too many. */
	readonly body: AsyncIterable<Buffer>;
}

/** Ours to set: how the bytes travel, and for whom. Cookies are never sent or kept. */
const OWN_HEADERS = new Set([
	'accept-encoding',
	'connection',
	'content-length',
	'cookie',
	'expect',
	'host',
	'keep-alive',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

/**
 * Fetches a URL through the guard.
 * @throws AppError `url_not_allowed` where the guard refuses a URL or an address on the way; `unreadable_file` where there
 * is no usable answer: no connection, no 2xx status, too late, too large, broken
 */
export async function download(
	guard: Guard,
	dispatcher: Dispatcher,
	url: string,
	options: DownloadOptions = {},
): Promise<Download> {
	const { maxWireBytes = 10_000_000, maxDecodedBytes = 20_000_000, maxRedirects = 3, timeoutMs = 15_000 } = options;
	const rules = { httpsOnly: options.httpsOnly ?? false };
	let hop: Hop = {
		url: guard.checkUrl(url, rules),
		method: options.method ?? 'GET',
		headers: requestHeaders(options.headers),
		body: options.body ?? null,
	};
	const ending = new Ending(timeoutMs, options.signal, () => tookTooLong(timeoutMs));
	try {
		for (let redirects = 0; ; redirects++) {
			const response = await send(dispatcher, hop, ending);
			if (isRedirect(response.statusCode)) {
				drop(response.body);
				if (redirects === maxRedirects) {
					throw new AppError('unreadable_file', `The URL redirects more than ${maxRedirects} times.`);
				}
				hop = nextHop(hop, response.statusCode, headerOf(response, 'location'));
				guard.checkUrl(hop.url.href, rules);
				continue;
			}
			if (response.statusCode < 200 || response.statusCode > 299) {
				drop(response.body);
				throw new AppError('unreadable_file', `The URL answered with status ${response.statusCode}.`);
			}
			if (Number(headerOf(response, 'content-length') ?? 0) > maxWireBytes) {
				drop(response.body);
				throw tooLarge(maxWireBytes);
			}
			const wire = bounded(response.body, maxWireBytes);
			const bytes = decode(wire, headerOf(response, 'content-encoding') ?? '', maxDecodedBytes);
			return {
				finalUrl: hop.url.href,
				status: response.statusCode,
				headers: flatHeaders(response),
				body: untilTheEnd(bytes, hop.url, ending),
				async [Symbol.asyncDispose]() {
					ending.now();
				},
			};
		}
	} catch (thrown) {
		ending.now(thrown);
		throw asAppError(thrown, hop.url, ending);
	}
}

/** The bytes as sent, up to the limit. */
async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > maxBytes) throw tooLarge(maxBytes);
		yield chunk;
	}
}

async function* untilTheEnd(bytes: AsyncIterable<Buffer>, url: URL, ending: Ending): AsyncGenerator<Buffer> {
	try {
		yield* bytes;
	} catch (thrown) {
		throw asAppError(thrown, url, ending);
	} finally {
		ending.now();
	}
}

function requestHeaders(given: Readonly<Record<string, string>> = {}): Record<string, string> {
	const headers: Record<string, string> = { 'user-agent': 'Parley', accept: '*/*' };
	for (const [name, value] of Object.entries(given)) {
		const lower = name.toLowerCase();
		if (!OWN_HEADERS.has(lower)) headers[lower] = value;
	}
	headers['accept-encoding'] = ACCEPTED_ENCODINGS;
	return headers;
}

function tookTooLong(ms: number): AppError {
	return new AppError('unreadable_file', `The URL did not deliver its file within ${ms / 1_000} seconds.`);
}

function asAppError(thrown: unknown, url: URL, ending: Ending): unknown {
	if (ending.reason !== undefined) return ending.reason;
	if (thrown instanceof AppError) return thrown;
	const message =
		connectionFailure(thrown, url) ?? `The connection to ${url.host} broke off before the file was complete.`;
	return new AppError('unreadable_file', message, { cause: thrown });
}
