import type { AbortableRequest, AbortListener, AppError, PullSource, ServerSentEvent, Span } from '../base/index.ts';
import type { HeaderBlock } from './header-block.ts';

/** Header pairs in the order in which they are sent. Names are lower-case by convention. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

/** One request, as handlers see it, independent of the HTTP library. */
export interface HttpRequest extends AbortableRequest {
	/** `req_…`, repeated in the response header `X-Request-Id`. */
	readonly id: string;
	/** Upper-case. A HEAD request reaches the GET handler as `HEAD`; the response's body is not sent. */
	readonly method: string;
	/** The path as sent, without the query string. */
	readonly path: string;
	/** The values of the route's `{placeholders}`, percent-decoded. */
	readonly params: Readonly<Record<string, string>>;
	/** The path with the query string, as sent. */
	readonly target: string;
	/** The query string, parsed on first use. */
	readonly query: URLSearchParams;
	/** The first value of a query parameter; null for none. Cheaper than `query`. */
	queryValue(name: string): string | null;
	/** The peer's address, or the client's address behind trusted proxies. IPv4-mapped addresses are given as IPv4. */
	readonly clientAddress: string;
	/** Aborts when the client has left or the request's deadline has passed. */
	readonly signal: AbortSignal;
	/** Until when the response must have begun (`performance.now()`). Infinite until the handler has waited for something. */
	readonly deadlineAt: number;
	/** As a listener of `signal`, for less. A request has one at a time. */
	addAbortListener(listener: AbortListener): void;
	removeAbortListener(listener: AbortListener): void;
	/** A header's value, by its lower-case name. */
	header(name: string): string | undefined;
	/** The names of the headers in lower case, as often as each was sent. */
	readonly headerNames: readonly string[];
	/** The operation of this request in a trace, for the parts of its work. */
	readonly span: Span;
	/** Makes `span` a part of the trace that the headers name, with its decision of sampling. Before the first use of `span`. */
	continueTrace(): void;
	/** Another server that the request is passed on to has its span. A span that has begun here stays. */
	suppressSpan(): void;
	/** Adds fields to the request's log line. Ids only: no secret, and no text that a person wrote. */
	addLogFields(fields: RequestLogFields): void;
	/** Whether the request announced a body (Content-Length over 0, or chunked). */
	readonly hasBody: boolean;
	/**
	 * The JSON body, or undefined for a request without a body.
	 * @throws AppError `unsupported_content_type`, `invalid_json`, `payload_too_large`
	 */
	json(options?: JsonOptions): Promise<unknown>;
	/**
	 * The whole body as it was sent, to pass it on. `json` can be read after it.
	 * @throws AppError `payload_too_large`
	 */
	bytes(maxBytes: number): Promise<Uint8Array>;
	/** Makes a body that was read as bytes readable again. */
	restoreBody(bytes: Uint8Array): void;
	/**
	 * Streams a multipart body. `onFile` is called for each file part and must consume it; text fields are collected.
	 * Resolves when the whole body is read and every `onFile` has resolved.
	 * @throws AppError `unsupported_content_type`, `invalid_request`, `payload_too_large`
	 */
	multipart(options: MultipartOptions): Promise<MultipartFields>;
}

/** Fields by which a request's log line can be found. */
export interface RequestLogFields {
	readonly workspace?: string;
	/** The id of the API key or of the session. */
	readonly credential?: string;
	readonly deployment?: string;
	/** The id of the reply that the request waits for: other log lines about the reply name it. */
	readonly message?: string;
}

export interface JsonOptions {
	/** Largest body in bytes, if that is less than the server's limit. A larger body is a 413. */
	maxBytes?: number;
}

export interface MultipartOptions {
	/** Largest file in bytes. A larger file is a 413. */
	maxFileBytes: number;
	/** Largest text field in bytes. */
	maxFieldBytes: number;
	/** Largest body in bytes, if its length is announced: a larger one is a 413 before it is read. */
	maxBodyBytes?: number;
	/** Called for each file part in order; the next part waits until it resolves. */
	onFile(part: FilePart): Promise<void>;
}

export interface FilePart {
	/** The form field's name. */
	name: string;
	/** As the client sent it, without folders; null for none. */
	fileName: string | null;
	/** The part's Content-Type. */
	contentType: string;
	/**
	 * The bytes, with backpressure up to the socket. Use a piece before you ask for the next one: its memory then belongs to another upload. So
	 * do not pipe them into a stream, which reads ahead. Fails when the form is malformed, the limit is exceeded or the client leaves.
	 */
	pieces: AsyncIterable<Uint8Array>;
}

/** The text fields of a multipart body, in order. */
export type MultipartFields = Array<{ name: string; value: string }>;

/** A whole response. */
export interface BytesResponse {
	status: number;
	headers?: Headers;
	/** Further headers, serialised in advance. */
	headerBlock?: HeaderBlock;
	body?: string | Uint8Array;
	/** The error that it reports. */
	error?: AppError;
}

/** One server-sent event. `data` is one line. */
export interface EncodableEvent extends ServerSentEvent {
	/** The result of `encodeServerSentEvent`; in UTF-8 for an event that many streams send. */
	encoded?: string | Uint8Array | null;
}

/** What the application adds to a response that no handler made: 404, 405, 503, and the errors that handlers throw. */
export interface Unhandled {
	headers: Headers;
	/** Replaces a client error, for example when the client has sent too many such requests. */
	refusal?: AppError | null;
}

/** A streamed response: status 200, `text/event-stream`, until the events end or fail, or the client leaves. */
export interface EventStreamResponse {
	headers?: Headers;
	events: PullSource<EncodableEvent>;
}

/**
 * A body whose length is not known: status 200, `Transfer-Encoding: chunked`. The next chunk is made once the client takes it. A
 * failure closes the connection before the last chunk.
 */
export interface ChunkedResponse {
	headers: Headers;
	chunks: AsyncIterable<string>;
}

export type RouteResponse = BytesResponse | EventStreamResponse | ChunkedResponse;

/** One entry of the routing table. */
export interface Route {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
	/** With `{placeholders}` for whole segments. A last segment `{name+}` matches the rest of the path. */
	path: string;
	/** Milliseconds until the response must have begun; after that, 503 `unavailable`. Default 60,000. */
	responseTimeoutMs?: number;
	/** A response that is not a promise is written at once, within the HTTP library's callback. */
	handle(request: HttpRequest): RouteResponse | Promise<RouteResponse>;
	/** Where many requests arrive at once, those of this route wait for a later turn of the event loop, because its handler takes time. */
	mayWait?: boolean;
	/** Only a sample of the successful responses is logged, because they are many. */
	isLogSampled?: boolean;
}
