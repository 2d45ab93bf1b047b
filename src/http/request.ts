import { AppError, newId } from '../base/index.ts';
import { readJson } from './bodies.ts';
import type { BodyInlet } from './body-inlet.ts';
import { readMultipart } from './multipart.ts';
import type { HttpRequest, JsonOptions, MultipartFields, MultipartOptions, RequestNotes } from './types.ts';

const PLAIN_VALUE = /^[a-z_]+=[A-Za-z0-9_-]*$/;
const NO_NOTES: RequestNotes = Object.freeze({});
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** What a request needs of the server and of its connection, asked for only where a handler wants to know. */
export interface RequestOrigin {
	readonly jsonBytes: number;
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
	notes: RequestNotes = NO_NOTES;
	/** The route's own time for an answer. */
	deadlineMs: number | undefined;
	/** Bytes of body announced; `UNKNOWN_LENGTH` where it is chunked. */
	announced = 0;
	/** Where the body arrives; null where there is none. */
	inlet: BodyInlet | null = null;
	/** Name, value, name, value, …, as they came; names in lower case. */
	readonly headers: readonly string[];
	readonly #origin: RequestOrigin;
	readonly #queryText: string | undefined;
	#query: URLSearchParams | undefined;
	#address: string | undefined;
	#controller: AbortController | undefined;
	#aborted: { reason: unknown } | undefined;

	constructor(
		method: string,
		path: string,
		queryText: string | undefined,
		headers: readonly string[],
		origin: RequestOrigin,
	) {
		this.method = method;
		this.path = path;
		this.#queryText = queryText;
		this.headers = headers;
		this.#origin = origin;
	}

	get hasBody(): boolean {
		return this.inlet !== null;
	}

	get query(): URLSearchParams {
		this.#query ??= new URLSearchParams(this.#queryText);
		return this.#query;
	}

	queryValue(name: string): string | null {
		const text = this.#queryText;
		// One parameter without anything encoded, as most are, is read without taking all of it apart.
		if (this.#query === undefined && text !== undefined && text.startsWith(name) && PLAIN_VALUE.test(text)) {
			if (text.charCodeAt(name.length) === 61) return text.slice(name.length + 1);
		}
		return this.query.get(name);
	}

	get clientAddress(): string {
		this.#address ??= this.#origin.clientAddress(this.header('x-forwarded-for'));
		return this.#address;
	}

	get signal(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
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

	note(notes: RequestNotes): void {
		this.notes = this.notes === NO_NOTES ? notes : { ...this.notes, ...notes };
	}

	async json({ maxBytes = Number.POSITIVE_INFINITY }: JsonOptions = {}): Promise<unknown> {
		if (this.inlet === null) return undefined;
		const facts = { contentType: this.header('content-type'), announced: this.announced };
		return readJson(this.inlet, facts, Math.min(maxBytes, this.#origin.jsonBytes));
	}

	async multipart(options: MultipartOptions): Promise<MultipartFields> {
		const contentType = this.header('content-type');
		if (this.inlet === null) throw new AppError('unsupported_content_type', 'Send files as multipart/form-data.');
		return readMultipart(this.inlet, contentType, options);
	}

	/** Lets the signal abort, also for whoever asks for it only later. */
	abort(reason?: unknown): void {
		this.#aborted ??= { reason };
		this.#controller?.abort(reason);
	}
}
