import { AppError, newId } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { readJson } from './json-body.ts';
import { readMultipart } from './multipart.ts';
import type { HttpRequest, JsonOptions, MultipartFields, MultipartOptions, RequestLogFields } from './types.ts';

const UNENCODED_PARAMETER = /^[a-z_]+=[A-Za-z0-9_-]*$/;
const NO_LOG_FIELDS: RequestLogFields = Object.freeze({});
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** What a request needs of the server and of its connection, asked for only where a handler wants to know. */
export interface RequestContext {
	readonly maxJsonBytes: number;
	clientAddress(forwardedFor: string | undefined): string;
}

/** A request, copied off the HTTP library, so that it outlives the library's callback. */
export class IncomingRequest implements HttpRequest {
	readonly id = newId('request');
	readonly method: string;
	readonly path: string;
	params = NO_PARAMS;
	/** The path of the route as in the table; null where there is none. */
	route: string | null = null;
	/** Whether successful answers of the route are logged as a sample only. */
	sampled = false;
	/** When the request's head had arrived (`performance.now()`); 0 where there is no observer. */
	startedAt = 0;
	/** See `note`. */
	logFields: RequestLogFields = NO_LOG_FIELDS;
	/** The route's own time for an answer. */
	responseTimeoutMs: number | undefined;
	/** Bytes of body announced; `UNKNOWN_LENGTH` where it is chunked. */
	announcedBytes = 0;
	/** Where the body arrives; null where there is none. */
	body: BodyBuffer | null = null;
	/** Name, value, name, value, …, as they came; names in lower case. */
	readonly headers: readonly string[];
	readonly #context: RequestContext;
	readonly #queryText: string | undefined;
	#query: URLSearchParams | undefined;
	#address: string | undefined;
	#controller: AbortController | undefined;
	#abortReason: { reason: unknown } | undefined;

	constructor(
		method: string,
		path: string,
		queryText: string | undefined,
		headers: readonly string[],
		origin: RequestContext,
	) {
		this.method = method;
		this.path = path;
		this.#queryText = queryText;
		this.headers = headers;
		this.#context = origin;
	}

	get hasBody(): boolean {
		return this.body !== null;
	}

	get query(): URLSearchParams {
		this.#query ??= new URLSearchParams(this.#queryText);
		return this.#query;
	}

	queryValue(name: string): string | null {
		const text = this.#queryText;
		// One parameter without anything encoded, as most are, is read without taking all of it apart.
		if (this.#query === undefined && text !== undefined && text.startsWith(name) && UNENCODED_PARAMETER.test(text)) {
			if (text.charCodeAt(name.length) === 61) return text.slice(name.length + 1);
		}
		return this.query.get(name);
	}

	get clientAddress(): string {
		this.#address ??= this.#context.clientAddress(this.header('x-forwarded-for'));
		return this.#address;
	}

	get signal(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason.reason);
		}
		return this.#controller.signal;
	}

	header(name: string): string | undefined {
		const { headers } = this;
		let value: string | undefined;
		for (let at = 0; at < headers.length; at += 2) {
			if (headers[at] !== name) continue;
			const next = headers[at + 1] as string;
			// Repeated headers are one list (RFC 9110, section 5.2); cookies have a separator of their own.
			if (value === undefined) value = next;
			else value += (name === 'cookie' ? '; ' : ', ') + next;
		}
		return value;
	}

	addLogFields(notes: RequestLogFields): void {
		this.logFields = this.logFields === NO_LOG_FIELDS ? notes : { ...this.logFields, ...notes };
	}

	async json({ maxBytes = Number.POSITIVE_INFINITY }: JsonOptions = {}): Promise<unknown> {
		if (this.body === null) return undefined;
		const facts = { contentType: this.header('content-type'), announcedBytes: this.announcedBytes };
		return readJson(this.body, facts, Math.min(maxBytes, this.#context.maxJsonBytes));
	}

	async multipart(options: MultipartOptions): Promise<MultipartFields> {
		const contentType = this.header('content-type');
		if (this.body === null) throw new AppError('unsupported_content_type', 'Send files as multipart/form-data.');
		return readMultipart(this.body, contentType, options);
	}

	/** Lets the signal abort, also for whoever asks for it only later. */
	abort(reason?: unknown): void {
		this.#abortReason ??= { reason };
		this.#controller?.abort(reason);
	}
}
