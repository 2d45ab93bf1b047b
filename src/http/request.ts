import type * as uWS from 'uWebSockets.js';
import { type AbortListener, AppError, isId, NO_SPAN, newId, type Span } from '../base/index.ts';
import { BodyBuffer } from './body-buffer.ts';
import { readBytes } from './body-bytes.ts';
import { readJson } from './json-body.ts';
import { readMultipart } from './multipart.ts';
import type { HttpRequest, JsonOptions, MultipartFields, MultipartOptions, RequestLogFields } from './types.ts';

const UNENCODED_PARAMETER = /^[a-z_]+=[A-Za-z0-9_-]*$/;
/** The time limit of a request that another server has passed on (ms). */
export const TIMEOUT_HEADER = 'x-parley-timeout';
const NO_LOG_FIELDS: RequestLogFields = Object.freeze({});
/** Never changed. */
const NO_QUERY = new URLSearchParams();
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** What a request needs from the server and its connection. Read only when a handler needs it. */
export interface RequestContext {
	readonly maxJsonBytes: number;
	/** Whether the sender is another node: its X-Request-Id and its `TIMEOUT_HEADER` hold. */
	readonly trustsSender: boolean;
	clientAddress(forwardedFor: string | undefined): string;
	beginSpan(request: IncomingRequest): Span;
}

/** A request, copied from the HTTP library, so that it is valid after the library's callback. */
export class IncomingRequest implements HttpRequest {
	readonly id: string;
	readonly method: string;
	readonly path: string;
	params = NO_PARAMS;
	/** The route's path as in the routing table; null where no route matched. */
	route: string | null = null;
	/** Whether only a sample of the route's successful responses is logged. */
	sampled = false;
	/** When the request's head had arrived (`performance.now()`); 0 where there is no observer. */
	startedAt = 0;
	/** See `continueTrace`. */
	continuesTrace = false;
	/** See `addLogFields`. */
	logFields: RequestLogFields = NO_LOG_FIELDS;
	/** The route's own time limit for a response. */
	responseTimeoutMs: number | undefined;
	deadlineAt = Number.POSITIVE_INFINITY;
	/** Bytes of the announced body; `UNKNOWN_LENGTH` for a chunked body. */
	announcedBytes = 0;
	/** Receives the body; null for a request without one. */
	body: BodyBuffer | null = null;
	/** Name, value, name, value, … in the order received; names in lower case. */
	readonly headers: readonly string[];
	readonly #context: RequestContext;
	readonly #queryText: string | undefined;
	#query: URLSearchParams | undefined;
	#address: string | undefined;
	#span: Span | undefined;
	#controller: AbortController | undefined;
	#abortReason: { reason: unknown } | undefined;
	#abortListener: AbortListener | null = null;

	constructor(
		method: string,
		path: string,
		queryText: string | undefined,
		headers: readonly string[],
		context: RequestContext,
	) {
		const given = context.trustsSender ? pairValue(headers, 'x-request-id') : undefined;
		this.id = given !== undefined && isId('request', given) ? given : newId('request');
		this.method = method;
		this.path = path;
		this.#queryText = queryText;
		this.headers = headers;
		this.#context = context;
	}

	/** What a server that passes requests on gives for the response (ms). */
	get givenTimeoutMs(): number {
		const given = this.#context.trustsSender ? Number(this.header(TIMEOUT_HEADER)) : Number.NaN;
		return given > 0 ? given : Number.POSITIVE_INFINITY;
	}

	get target(): string {
		return this.#queryText ? `${this.path}?${this.#queryText}` : this.path;
	}

	get hasBody(): boolean {
		return this.body !== null;
	}

	get query(): URLSearchParams {
		this.#query ??= this.#queryText ? new URLSearchParams(this.#queryText) : NO_QUERY;
		return this.#query;
	}

	queryValue(name: string): string | null {
		const text = this.#queryText;
		// Most query strings are one parameter without encoded characters: it is read without parsing the whole query.
		if (this.#query === undefined && text !== undefined && text.startsWith(name) && UNENCODED_PARAMETER.test(text)) {
			if (text.charCodeAt(name.length) === 61) return text.slice(name.length + 1);
		}
		return this.query.get(name);
	}

	get clientAddress(): string {
		this.#address ??= this.#context.clientAddress(this.header('x-forwarded-for'));
		return this.#address;
	}

	get span(): Span {
		this.#span ??= this.#context.beginSpan(this);
		return this.#span;
	}

	continueTrace(): void {
		this.continuesTrace = true;
	}

	suppressSpan(): void {
		this.#span ??= NO_SPAN;
	}

	get signal(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason.reason);
		}
		return this.#controller.signal;
	}

	addAbortListener(listener: AbortListener): void {
		if (this.#abortReason !== undefined) listener.onRequestAbort(this.#abortReason.reason);
		else if (this.#abortListener === null) this.#abortListener = listener;
		else throw new Error('The request has an abort listener.');
	}

	removeAbortListener(listener: AbortListener): void {
		if (this.#abortListener === listener) this.#abortListener = null;
	}

	header(name: string): string | undefined {
		const { headers } = this;
		let value: string | undefined;
		for (let at = 0; at < headers.length; at += 2) {
			if (headers[at] !== name) continue;
			const next = headers[at + 1] as string;
			// Repeated headers are one list (RFC 9110, section 5.2). Cookies are joined by semicolons (RFC 6265, section 5.4).
			if (value === undefined) value = next;
			else value += (name === 'cookie' ? '; ' : ', ') + next;
		}
		return value;
	}

	get headerNames(): readonly string[] {
		return this.headers.filter((_, at) => at % 2 === 0);
	}

	addLogFields(fields: RequestLogFields): void {
		this.logFields = this.logFields === NO_LOG_FIELDS ? fields : { ...this.logFields, ...fields };
	}

	async json({ maxBytes = Number.POSITIVE_INFINITY }: JsonOptions = {}): Promise<unknown> {
		if (this.body === null) return undefined;
		const headers = { contentType: this.header('content-type'), announcedBytes: this.announcedBytes };
		return readJson(this.body, headers, Math.min(maxBytes, this.#context.maxJsonBytes));
	}

	async bytes(maxBytes: number): Promise<Uint8Array> {
		if (this.body === null) return new Uint8Array(0);
		const bytes = await readBytes(this.body, this.announcedBytes, maxBytes);
		this.restoreBody(bytes);
		return bytes;
	}

	restoreBody(bytes: Uint8Array): void {
		this.body = BodyBuffer.of(bytes);
		this.announcedBytes = bytes.length;
	}

	async multipart(options: MultipartOptions): Promise<MultipartFields> {
		const contentType = this.header('content-type');
		if (this.body === null) throw new AppError('unsupported_content_type', 'Send files as multipart/form-data.');
		return readMultipart(this.body, { contentType, announcedBytes: this.announcedBytes }, options);
	}

	/** Aborts the signal, also when a handler reads `signal` only later. */
	abort(reason?: unknown): void {
		if (this.#abortReason !== undefined) return;
		this.#abortReason = { reason };
		this.#controller?.abort(reason);
		this.#abortListener?.onRequestAbort(reason);
	}
}

function pairValue(headers: readonly string[], name: string): string | undefined {
	for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
	return undefined;
}

/** Receives copies of the library's headers, which are valid only during its synchronous callback. */
let headerPairs: string[] = [];
const copyHeader = (name: string, value: string): void => {
	headerPairs.push(name, value);
};

/** Copies a request from the HTTP library, inside its callback. */
export function copyRequest(req: uWS.HttpRequest, context: RequestContext): IncomingRequest {
	headerPairs = [];
	req.forEach(copyHeader);
	// Only the case-sensitive method: the getter of the other one changes it in place.
	return new IncomingRequest(req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery(), headerPairs, context);
}
