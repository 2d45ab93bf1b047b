import type { Readable } from 'node:stream';
import type { AppError, ErrorCode, ServerSentEvent } from '../base/index.ts';
import type { HeaderBlock } from './header-block.ts';

/** Header pairs in the order in which they are sent. Names are lower-case by convention. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

/** One request, as handlers see it. Nothing of the HTTP library shows through. */
export interface HttpRequest {
	/** `req_…`, repeated in the response header `X-Request-Id`. */
	readonly id: string;
	/** Upper-case. A HEAD request reaches the GET handler as `HEAD`; its body is dropped on the way out. */
	readonly method: string;
	/** The path as sent, without the query string. */
	readonly path: string;
	/** The values of the route's `{placeholders}`, percent-decoded. */
	readonly params: Readonly<Record<string, string>>;
	/** The query string, parsed on first use. */
	readonly query: URLSearchParams;
	/** The first value of a query parameter; null where there is none. Cheaper than `query` where that is all one wants. */
	queryValue(name: string): string | null;
	/** The address of the peer's socket, or of the client behind trusted proxies. IPv4-mapped addresses come as IPv4. */
	readonly clientAddress: string;
	/** Aborts when the client has gone, or when the request's deadline has passed. */
	readonly signal: AbortSignal;
	/** A header's value by its lower-case name. */
	header(name: string): string | undefined;
	/** Says more about the request in the line that is logged of it. Ids only: no secret, and nothing that people wrote. */
	addLogFields(notes: RequestLogFields): void;
	/** Whether the request announced a body (Content-Length over 0, or chunked). */
	readonly hasBody: boolean;
	/**
	 * The JSON body, or undefined where there is none.
	 * @throws AppError `unsupported_content_type`, `invalid_json`, `payload_too_large`
	 */
	json(options?: JsonOptions): Promise<unknown>;
	/**
	 * Streams a multipart body. `onFile` is called for each file part and must consume it; the parts' fields are collected.
	 * Resolves once the whole body was read and every `onFile` has resolved.
	 * @throws AppError `unsupported_content_type`, `invalid_request`, `payload_too_large`
	 */
	multipart(options: MultipartOptions): Promise<MultipartFields>;
}

/** What a handler knows of a request that helps to find its line. */
export interface RequestLogFields {
	readonly workspace?: string;
	/** The id of the API key or of the session. */
	readonly credential?: string;
	readonly deployment?: string;
	/** The id of the reply that the request waits for: other lines about it name that. */
	readonly message?: string;
}

export interface JsonOptions {
	/** Bytes that the body may have, where that is less than the server's limit; one byte more is a 413. */
	maxBytes?: number;
}

export interface MultipartOptions {
	/** Bytes that one file may have; one byte more is a 413. */
	maxFileBytes: number;
	/** Bytes that one field may have. */
	maxFieldBytes: number;
	/** Called for each file part in order; the next part waits until it resolves. */
	onFile(part: FilePart): Promise<void>;
}

export interface FilePart {
	/** The form field's name. */
	name: string;
	/** As the client gave it, without any folder; null where it gave none. */
	fileName: string | null;
	/** The part's Content-Type. */
	contentType: string;
	/** The bytes, with backpressure up to the socket. Destroyed with an error when the limit is passed or the client leaves. */
	stream: Readable;
}

/** The text fields of a multipart body, in order. */
export type MultipartFields = Array<{ name: string; value: string }>;

/** A whole answer. */
export interface BytesResponse {
	status: number;
	headers?: Headers;
	/** Further headers, ready to be sent. */
	headerBlock?: HeaderBlock;
	body?: string | Uint8Array;
	/** The code of an error. */
	error?: ErrorCode;
}

/** One server-sent event. `data` is one line. */
export interface EncodableEvent extends ServerSentEvent {
	/** What `encodeServerSentEvent` makes of it, in UTF-8, where many streams send the same. */
	encoded?: Uint8Array | null;
}

/** What the application adds to an answer that no handler made: 404, 405, 503, and whatever a handler throws. */
export interface Unhandled {
	headers: Headers;
	/** Takes the place of an error that is the client's: it has sent too many such requests, say. */
	refusal?: AppError | null;
}

/** An answer that goes on: status 200, `text/event-stream`, until the iterable ends, throws, or the client leaves. */
export interface EventStreamResponse {
	headers?: Headers;
	events: AsyncIterable<EncodableEvent>;
}

export type RouteResponse = BytesResponse | EventStreamResponse;

/** One entry of the routing table. */
export interface Route {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
	/** With `{placeholders}` for whole segments; a last segment `{name+}` takes the rest of the path. */
	path: string;
	/** Milliseconds until an answer must have begun; then 503 `unavailable`. Default 60,000. */
	responseTimeoutMs?: number;
	/** May answer at once: a reply that is not a promise is written without waiting for the next turn. */
	handle(request: HttpRequest): RouteResponse | Promise<RouteResponse>;
	/** Successful answers are so many, and tell so little, that only a sample of them is logged. */
	isLogSampled?: boolean;
}
