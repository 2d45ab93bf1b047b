import { Agent, type Dispatcher } from 'undici';
import { ExchangeAbort } from './exchange-abort.ts';
import { isRedirect } from './redirect.ts';
import { ResponseLimits } from './response-limits.ts';
import { discardBody, flatHeaders, sendRequest } from './send-request.ts';
import { otherOriginRefused, redirectRefused, ServiceError, serviceFailure, serviceTimeout } from './service-error.ts';
import {
	type ResponseReceiver,
	type ServiceExchange,
	type ServicePost,
	type ServiceStreamLimits,
	streamFromService,
} from './service-stream.ts';

/** Limits for the exchanges with a service. */
export interface ServiceClientOptions {
	/** Milliseconds for a whole exchange, including the last byte of the response. Default 15 minutes. */
	timeoutMs?: number;
	/** Bytes of a response's body. Default 32 MiB. */
	maxBodyBytes?: number;
	/** Bytes of one line of the body, which bounds the buffer of a caller that reads lines. Default 1 MiB. */
	maxLineBytes?: number;
	/** Concurrent exchanges; further ones wait. Default: no limit. */
	connections?: number | null;
	/** Whether any certificate is accepted. Only for a request to this machine that has no secret. Default: no. */
	acceptsAnyCertificate?: boolean;
}

/** `fetch` as libraries expect it, for requests whose body is a text, bytes or empty. */
export type ServiceFetch = typeof fetch;

/** A client of one service that the operator configured. Disposal closes its connections. */
export interface ServiceClient extends AsyncDisposable {
	/**
	 * Sends a request to the service only: it refuses a URL of another origin and follows no redirect. It reads only the
	 * beginning of a response with an error status. An abort closes the connection at once.
	 * @throws ServiceError, or the reason of the request's signal; TypeError for a request that it does not take
	 */
	fetch: ServiceFetch;
	/**
	 * Sends a POST and passes the response on while it arrives, with less overhead than `fetch` and by the same rules.
	 * @throws ServiceError for a URL of another origin
	 */
	stream(post: ServicePost, receiver: ResponseReceiver): ServiceExchange;
}

/** A response with an error status is a sentence or two. */
const MAX_ERROR_BYTES = 64 * 1024;
const CLIENT_HEADERS = { 'user-agent': 'Parley', 'accept-encoding': 'identity' };
const CONNECT_MS = 10_000;
/** An idle connection is kept for this time, unless the service gives another. */
const KEEP_ALIVE_MS = 30_000;
/** Statuses of responses without a body (null body status of the Fetch Standard). */
const NULL_BODY_STATUSES = new Set([204, 205, 304]);

/**
 * Makes a client of a service. Its address is not checked: the operator may configure a private one, such as a model server
 * on the same machine.
 * @param baseUrl an http or https URL; the client connects to its origin only
 */
export function createServiceClient(baseUrl: string, options: ServiceClientOptions = {}): ServiceClient {
	const {
		timeoutMs = 15 * 60_000,
		maxBodyBytes = 32 * 1024 * 1024,
		maxLineBytes = 1024 * 1024,
		connections = null,
		acceptsAnyCertificate = false,
	} = options;
	const { origin } = new URL(baseUrl);
	const agent = new Agent({
		connect: { timeout: CONNECT_MS, autoSelectFamily: true, rejectUnauthorized: !acceptsAnyCertificate },
		connections,
		pipelining: 1,
		keepAliveTimeout: KEEP_ALIVE_MS,
		// The deadline of the exchange covers both.
		headersTimeout: 0,
		bodyTimeout: 0,
	});

	async function fetchFromService(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
		const url = requestUrl(input);
		if (url.origin !== origin) throw otherOriginRefused(origin);
		const abort = new ExchangeAbort(timeoutMs, init.signal ?? undefined, () => serviceTimeout(timeoutMs));
		try {
			const hop = { url, method: init.method ?? 'GET', headers: requestHeaders(init.headers), body: requestBody(init) };
			const serviceResponse = await sendRequest(agent, hop, abort);
			if (isRedirect(serviceResponse.statusCode)) {
				discardBody(serviceResponse.body);
				throw redirectRefused(url);
			}
			const isError = serviceResponse.statusCode < 200 || serviceResponse.statusCode > 299;
			const bytes = isError
				? firstBytes(serviceResponse.body, MAX_ERROR_BYTES)
				: limitBytesAndLines(serviceResponse.body, { maxBodyBytes, maxLineBytes });
			return toFetchResponse(serviceResponse, closeAtEnd(bytes, url, abort), abort);
		} catch (thrown) {
			abort.abort(thrown);
			throw toServiceError(thrown, url, abort);
		}
	}

	const streamLimits: ServiceStreamLimits = { timeoutMs, maxBodyBytes, maxLineBytes, maxErrorBytes: MAX_ERROR_BYTES };
	function stream(post: ServicePost, receiver: ResponseReceiver): ServiceExchange {
		if (post.url.origin !== origin) throw otherOriginRefused(origin);
		const headers = { ...post.headers, ...CLIENT_HEADERS };
		return streamFromService(agent, { ...post, headers }, receiver, streamLimits);
	}

	return { fetch: fetchFromService, stream, [Symbol.asyncDispose]: () => agent.destroy() };
}

function requestUrl(input: string | URL | Request): URL {
	if (typeof input === 'string' || input instanceof URL) return new URL(input);
	throw new TypeError('A service client takes a URL and the options of the request, not a Request.');
}

function requestHeaders(given: RequestInit['headers']): Record<string, string> {
	const headers = Object.fromEntries(new Headers(given));
	return { ...headers, ...CLIENT_HEADERS };
}

function requestBody({ body }: RequestInit): string | Uint8Array | null {
	if (body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array)
		return body ?? null;
	throw new TypeError('A service client takes a text or bytes as the body.');
}

function toFetchResponse(
	serviceResponse: Dispatcher.ResponseData,
	bytes: AsyncGenerator<Buffer>,
	abort: ExchangeAbort,
): Response {
	const head = { status: serviceResponse.statusCode, headers: flatHeaders(serviceResponse) };
	const cancel = () => {
		discardBody(serviceResponse.body);
		abort.abort();
	};
	if (NULL_BODY_STATUSES.has(serviceResponse.statusCode)) {
		cancel();
		return new Response(null, head);
	}
	const source = {
		async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
			const next = await bytes.next();
			if (next.done) controller.close();
			else controller.enqueue(next.value);
		},
		cancel: cancel,
	};
	// Nothing is read ahead, so a slow reader slows down the sender.
	return new Response(new ReadableStream(source, { highWaterMark: 0 }), head);
}

/** @throws ServiceError for a body or a line above its limit */
async function* limitBytesAndLines(
	body: AsyncIterable<Buffer>,
	limits: { maxBodyBytes: number; maxLineBytes: number },
): AsyncGenerator<Buffer> {
	const counted = new ResponseLimits(limits);
	for await (const chunk of body) {
		const excess = counted.add(chunk);
		if (excess !== null) throw new ServiceError('too_large', excess);
		yield chunk;
	}
}

/** The first bytes. The rest is not read. */
async function* firstBytes(body: Dispatcher.ResponseData['body'], maxBytes: number): AsyncGenerator<Buffer> {
	let remainingBytes = maxBytes;
	for await (const chunk of body as AsyncIterable<Buffer>) {
		yield chunk.subarray(0, remainingBytes);
		remainingBytes -= chunk.length;
		if (remainingBytes <= 0) return;
	}
}

async function* closeAtEnd(bytes: AsyncIterable<Buffer>, url: URL, abort: ExchangeAbort): AsyncGenerator<Buffer> {
	try {
		yield* bytes;
	} catch (thrown) {
		throw toServiceError(thrown, url, abort);
	} finally {
		abort.abort();
	}
}

function toServiceError(thrown: unknown, url: URL, abort: ExchangeAbort): unknown {
	return abort.reason ?? serviceFailure(thrown, url);
}
