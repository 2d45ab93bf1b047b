import type { Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { ACCEPTED_ENCODINGS, decode, FileTooLargeError } from './decode.ts';
import { ExchangeAbort } from './exchange-abort.ts';
import { followRedirect, isRedirect, type OutgoingRequest } from './redirect.ts';
import { ResponseLimitError } from './response-limit.ts';
import { connectionFailure, discardBody, firstHeader, flatHeaders, sendRequest } from './send-request.ts';
import type { SsrfGuard } from './ssrf-guard.ts';

/** The request of a download, and its limits. */
export interface DownloadOptions {
	/** Each purpose has its own connections, so downloads for one do not wait for those of another. Default `document`. */
	purpose?: 'document' | 'key_set';
	/** Aborts the download, which then throws the signal's reason. */
	signal?: AbortSignal;
	/** Milliseconds for the whole download: DNS, connections, redirects, and the last byte of the body. Default 15,000. */
	timeoutMs?: number;
	/** Bytes of the body as sent. Default 10 MB. */
	maxWireBytes?: number;
	/** Bytes of the body after decompression. Default 20 MB. */
	maxDecodedBytes?: number;
	/** Redirects that are followed. The guard checks each. Default 3. */
	maxRedirects?: number;
	/**
	 * Returns a response with any status, also a redirect beyond `maxRedirects`. Default false: every status but 2xx is an
	 * error.
	 */
	anyStatus?: boolean;
	/** Only https, also after redirects (unless private networks are allowed). */
	httpsOnly?: boolean;
	method?: 'GET' | 'POST';
	/** Headers about the connection or the coding are ignored. */
	headers?: Readonly<Record<string, string>>;
	body?: string | Uint8Array;
}

/** A response with a status of 2xx, or with any status if `anyStatus` is set. Its body is not read yet. The caller reads it to its end or disposes of the download. */
export interface Download extends AsyncDisposable {
	/** The URL of the response, after redirects. */
	readonly finalUrl: string;
	readonly status: number;
	/** By lower-case name; repeated headers are joined by a comma. */
	readonly headers: Readonly<Record<string, string>>;
	/** The decoded bytes; can be read once. Throws AppError `unreadable_file` if they break off or are too many. */
	readonly body: AsyncIterable<Buffer>;
}

/** Headers that only this module sets. Cookies are never sent or stored. */
const MANAGED_HEADERS = new Set([
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
 * @throws AppError `url_not_allowed` if the guard refuses a URL or an address; `unreadable_file` if there is no usable
 * response: no connection, no 2xx status, time limit passed, too large, broken off
 */
export async function download(
	guard: SsrfGuard,
	dispatcher: Dispatcher,
	url: string,
	options: DownloadOptions = {},
): Promise<Download> {
	const { maxWireBytes = 10_000_000, maxDecodedBytes = 20_000_000, maxRedirects = 3, timeoutMs = 15_000 } = options;
	const urlRules = { httpsOnly: options.httpsOnly ?? false };
	let request: OutgoingRequest = {
		url: guard.checkUrl(url, urlRules),
		method: options.method ?? 'GET',
		headers: requestHeaders(options.headers),
		body: options.body ?? null,
	};
	const abort = new ExchangeAbort(timeoutMs, options.signal, () => timeoutError(timeoutMs));
	try {
		for (let redirects = 0; ; redirects++) {
			const response = await sendRequest(dispatcher, request, abort);
			if (isRedirect(response.statusCode) && !(options.anyStatus && redirects === maxRedirects)) {
				discardBody(response.body);
				if (redirects === maxRedirects) {
					throw new AppError('unreadable_file', `The URL redirects more than ${maxRedirects} times.`);
				}
				request = followRedirect(request, response.statusCode, firstHeader(response, 'location'));
				guard.checkUrl(request.url.href, urlRules);
				continue;
			}
			if (!options.anyStatus && (response.statusCode < 200 || response.statusCode > 299)) {
				discardBody(response.body);
				throw new AppError('unreadable_file', `The URL answered with status ${response.statusCode}.`);
			}
			if (Number(firstHeader(response, 'content-length') ?? 0) > maxWireBytes) {
				discardBody(response.body);
				throw new FileTooLargeError(maxWireBytes);
			}
			const wire = limitBytes(response.body, maxWireBytes);
			const bytes = decode(wire, firstHeader(response, 'content-encoding') ?? '', maxDecodedBytes);
			return {
				finalUrl: request.url.href,
				status: response.statusCode,
				headers: flatHeaders(response),
				body: closeAtEnd(bytes, request.url, abort),
				async [Symbol.asyncDispose]() {
					abort.abort();
				},
			};
		}
	} catch (thrown) {
		abort.abort(thrown);
		throw asAppError(thrown, request.url, abort);
	}
}

/** @throws AppError `unreadable_file` for more bytes than the limit */
async function* limitBytes(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > maxBytes) throw new FileTooLargeError(maxBytes);
		yield chunk;
	}
}

async function* closeAtEnd(bytes: AsyncIterable<Buffer>, url: URL, abort: ExchangeAbort): AsyncGenerator<Buffer> {
	try {
		yield* bytes;
	} catch (thrown) {
		throw asAppError(thrown, url, abort);
	} finally {
		abort.abort();
	}
}

function requestHeaders(given: Readonly<Record<string, string>> = {}): Record<string, string> {
	const headers: Record<string, string> = { 'user-agent': 'Parley', accept: '*/*' };
	for (const [name, value] of Object.entries(given)) {
		const lower = name.toLowerCase();
		if (!MANAGED_HEADERS.has(lower)) headers[lower] = value;
	}
	headers['accept-encoding'] = ACCEPTED_ENCODINGS;
	return headers;
}

function timeoutError(ms: number): AppError {
	return new AppError('unreadable_file', `The URL did not deliver its file within ${ms / 1_000} seconds.`);
}

function asAppError(thrown: unknown, url: URL, abort: ExchangeAbort): unknown {
	if (abort.reason !== undefined) return abort.reason;
	if (thrown instanceof AppError) return thrown;
	if (thrown instanceof ResponseLimitError) return new AppError('unreadable_file', thrown.message, { cause: thrown });
	const message =
		connectionFailure(thrown, url) ?? `The connection to ${url.host} broke off before the file was complete.`;
	return new AppError('unreadable_file', message, { cause: thrown });
}
