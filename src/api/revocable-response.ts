import type { Caller, CredentialMonitor, CredentialUse } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import type {
	EncodableEvent,
	HttpRequest,
	JsonOptions,
	MultipartFields,
	MultipartOptions,
	RequestLogFields,
	RouteResponse,
} from '../http/index.ts';

/**
 * Answers a request that may take long, for as long as its credential is good: when that ends, so does the request's signal,
 * and the event stream with it.
 */
export async function respondUntilRevoked(
	monitor: CredentialMonitor,
	caller: Caller,
	request: HttpRequest,
	respond: (request: HttpRequest) => Promise<RouteResponse>,
): Promise<RouteResponse> {
	const use = monitor.beginUse(caller, request.signal);
	try {
		return await respondDuringUse(use, request, respond);
	} catch (error) {
		throw use.isRevoked ? new AppError('unauthorized', 'The credential was revoked.', { cause: error }) : error;
	}
}

/** Answers a request with the signal of a use, and ends the use when the answer is over, be it a stream or not. */
export async function respondDuringUse(
	use: Pick<CredentialUse, 'signal' | 'end'>,
	request: HttpRequest,
	respond: (request: HttpRequest) => Promise<RouteResponse>,
): Promise<RouteResponse> {
	try {
		const response = await respond(new RequestWithSignal(request, use.signal));
		if ('events' in response) return { ...response, events: new RevocableEvents(response.events, use) };
		use.end();
		return response;
	} catch (error) {
		use.end();
		throw error;
	}
}

/**
 * The same events, to be read once; their use of the credential is over after the last, after a failure, or when nobody wants
 * more. A class, because objects made of closures take twice the memory, for each open stream.
 */
class RevocableEvents implements AsyncIterableIterator<EncodableEvent, undefined, undefined> {
	readonly #events: AsyncIterator<EncodableEvent>;
	readonly #use: Pick<CredentialUse, 'end'>;

	constructor(events: AsyncIterable<EncodableEvent>, use: Pick<CredentialUse, 'end'>) {
		this.#events = events[Symbol.asyncIterator]();
		this.#use = use;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<IteratorResult<EncodableEvent, undefined>> {
		try {
			const step = await this.#events.next();
			if (step.done) this.#use.end();
			return step;
		} catch (error) {
			this.#use.end();
			throw error;
		}
	}

	async return(): Promise<IteratorResult<EncodableEvent, undefined>> {
		// Not before: the source may be waiting for the signal, and would wait for ever.
		try {
			await this.#events.return?.();
		} finally {
			this.#use.end();
		}
		return { done: true, value: undefined };
	}
}

/** A request with another signal; all else is its own. */
class RequestWithSignal implements HttpRequest {
	readonly #request: HttpRequest;
	readonly signal: AbortSignal;

	constructor(request: HttpRequest, signal: AbortSignal) {
		this.#request = request;
		this.signal = signal;
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

	get query(): URLSearchParams {
		return this.#request.query;
	}

	queryValue(name: string): string | null {
		return this.#request.queryValue(name);
	}

	get clientAddress(): string {
		return this.#request.clientAddress;
	}

	get hasBody(): boolean {
		return this.#request.hasBody;
	}

	header(name: string): string | undefined {
		return this.#request.header(name);
	}

	addLogFields(notes: RequestLogFields): void {
		this.#request.addLogFields(notes);
	}

	json(options?: JsonOptions): Promise<unknown> {
		return this.#request.json(options);
	}

	multipart(options: MultipartOptions): Promise<MultipartFields> {
		return this.#request.multipart(options);
	}
}
