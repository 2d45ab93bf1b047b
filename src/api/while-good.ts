import type { Caller, CredentialWatch, Use } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import type {
	HttpRequest,
	JsonOptions,
	MultipartFields,
	MultipartOptions,
	Reply,
	RequestNotes,
	SseEvent,
} from '../http/index.ts';

/**
 * Answers a request that may take long, for as long as its credential is good: when that ends, so does the request's signal,
 * and the event stream with it.
 */
export async function whileGood(
	watch: CredentialWatch,
	caller: Caller,
	request: HttpRequest,
	answer: (request: HttpRequest) => Promise<Reply>,
): Promise<Reply> {
	const use = watch.begin(caller, request.signal);
	try {
		return await whileInUse(use, request, answer);
	} catch (error) {
		throw use.revoked ? new AppError('unauthorized', 'The credential was revoked.', { cause: error }) : error;
	}
}

/** Answers a request with the signal of a use, and ends the use when the answer is over, be it a stream or not. */
export async function whileInUse(
	use: Pick<Use, 'signal' | 'end'>,
	request: HttpRequest,
	answer: (request: HttpRequest) => Promise<Reply>,
): Promise<Reply> {
	try {
		const reply = await answer(new WatchedRequest(request, use.signal));
		if ('events' in reply) return { ...reply, events: new EventsInUse(reply.events, use) };
		use.end();
		return reply;
	} catch (error) {
		use.end();
		throw error;
	}
}

/**
 * The same events, to be read once; their use of the credential is over after the last, after a failure, or when nobody wants
 * more. A class, because objects made of closures take twice the memory, for each open stream.
 */
class EventsInUse implements AsyncIterableIterator<SseEvent, undefined, undefined> {
	readonly #inner: AsyncIterator<SseEvent>;
	readonly #use: Pick<Use, 'end'>;

	constructor(events: AsyncIterable<SseEvent>, use: Pick<Use, 'end'>) {
		this.#inner = events[Symbol.asyncIterator]();
		this.#use = use;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<IteratorResult<SseEvent, undefined>> {
		try {
			const step = await this.#inner.next();
			if (step.done) this.#use.end();
			return step;
		} catch (error) {
			this.#use.end();
			throw error;
		}
	}

	async return(): Promise<IteratorResult<SseEvent, undefined>> {
		// Not before: the source may be waiting for the signal, and would wait for ever.
		try {
			await this.#inner.return?.();
		} finally {
			this.#use.end();
		}
		return { done: true, value: undefined };
	}
}

/** A request with another signal; all else is its own. */
class WatchedRequest implements HttpRequest {
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

	note(notes: RequestNotes): void {
		this.#request.note(notes);
	}

	json(options?: JsonOptions): Promise<unknown> {
		return this.#request.json(options);
	}

	multipart(options: MultipartOptions): Promise<MultipartFields> {
		return this.#request.multipart(options);
	}
}
