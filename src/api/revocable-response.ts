import type { Caller, CredentialMonitor } from '../access/index.ts';
import { type AbortListener, AppError, type RevocableUse, type Span } from '../base/index.ts';
import type {
	HttpRequest,
	JsonOptions,
	MultipartFields,
	MultipartOptions,
	RequestLogFields,
	RouteResponse,
} from '../http/index.ts';

/**
 * Responds to a request that may take long, for as long as its credential is valid. When the credential is revoked, the request's
 * signal aborts and its event stream ends.
 */
export async function respondUntilRevoked(
	monitor: CredentialMonitor,
	caller: Caller,
	request: HttpRequest,
	respond: (request: HttpRequest) => Promise<RouteResponse>,
): Promise<RouteResponse> {
	const use = monitor.beginUse(caller, request);
	try {
		return await respondDuringUse(use, request, respond);
	} catch (error) {
		throw use.isRevoked ? new AppError('unauthorized', 'The credential was revoked.', { cause: error }) : error;
	}
}

/** Responds to a request with the signal of a use, and ends the use with the response, be it an event stream or not. */
export async function respondDuringUse<C>(
	use: RevocableUse<C>,
	request: HttpRequest,
	respond: (request: HttpRequest) => Promise<RouteResponse>,
): Promise<RouteResponse> {
	try {
		const response = await respond(new RequestOfUse(request, use));
		if ('events' in response) return { ...response, events: use.untilRevoked(response.events) };
		if ('chunks' in response) return { ...response, chunks: chunksOfUse(response.chunks, use) };
		use.end();
		return response;
	} catch (error) {
		use.end();
		throw error;
	}
}

/**
 * The chunks of a download, up to the first that its use no longer permits. The use ends with them, also where they are discarded
 * before the first: a generator that has not begun runs no `finally`.
 */
function chunksOfUse<C>(chunks: AsyncIterable<string>, use: RevocableUse<C>): AsyncIterable<string> {
	const permitted = permittedChunks(chunks, use);
	const iterator: AsyncIterator<string> = {
		next: () => permitted.next(),
		async return() {
			use.end();
			return permitted.return(undefined);
		},
	};
	return { [Symbol.asyncIterator]: () => iterator };
}

async function* permittedChunks<C>(chunks: AsyncIterable<string>, use: RevocableUse<C>): AsyncGenerator<string> {
	try {
		for await (const chunk of chunks) {
			await use.pendingCheck;
			if (use.isEnded || use.hasExpired) throw new AppError('unauthorized', 'The credential was revoked.');
			yield chunk;
		}
	} finally {
		use.end();
	}
}

/** A request with the signal of a use. */
class RequestOfUse implements HttpRequest {
	readonly #request: HttpRequest;
	readonly #use: Pick<RevocableUse, 'signal'>;

	constructor(request: HttpRequest, use: Pick<RevocableUse, 'signal'>) {
		this.#request = request;
		this.#use = use;
	}

	get signal(): AbortSignal {
		return this.#use.signal;
	}

	addAbortListener(listener: AbortListener): void {
		this.#request.addAbortListener(listener);
	}

	removeAbortListener(listener: AbortListener): void {
		this.#request.removeAbortListener(listener);
	}

	restoreBody(bytes: Uint8Array): void {
		this.#request.restoreBody(bytes);
	}

	get id(): string {
		return this.#request.id;
	}

	get method(): string {
		return this.#request.method;
	}

	get path(): string {
		return this.#request.path;
	}

	get params(): Readonly<Record<string, string>> {
		return this.#request.params;
	}

	get target(): string {
		return this.#request.target;
	}

	get query(): URLSearchParams {
		return this.#request.query;
	}

	queryValue(name: string): string | null {
		return this.#request.queryValue(name);
	}

	get deadlineAt(): number {
		return this.#request.deadlineAt;
	}

	get clientAddress(): string {
		return this.#request.clientAddress;
	}

	get span(): Span {
		return this.#request.span;
	}

	continueTrace(): void {
		this.#request.continueTrace();
	}

	suppressSpan(): void {
		this.#request.suppressSpan();
	}

	get hasBody(): boolean {
		return this.#request.hasBody;
	}

	get headerNames(): readonly string[] {
		return this.#request.headerNames;
	}

	header(name: string): string | undefined {
		return this.#request.header(name);
	}

	addLogFields(notes: RequestLogFields): void {
		this.#request.addLogFields(notes);
	}

	bytes(maxBytes: number): Promise<Uint8Array> {
		return this.#request.bytes(maxBytes);
	}

	json(options?: JsonOptions): Promise<unknown> {
		return this.#request.json(options);
	}

	multipart(options: MultipartOptions): Promise<MultipartFields> {
		return this.#request.multipart(options);
	}
}
