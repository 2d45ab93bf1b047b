import { createParser } from 'eventsource-parser';
import type { ResponseReceiver, ServiceClient, ServiceExchange, ServicePost } from '../../net/index.ts';
import type { AnswerEvent } from './answer-event.ts';
import type { AnswerReader, StreamEvent } from './chat-protocol.ts';
import { jsonOf } from './json.ts';
import { providerError } from './provider-failure.ts';
import { errorIn, protocolError, statusError } from './reported-error.ts';

/** Characters of one server-sent event. The service client bounds the bytes of one line and of the whole response. */
const MAX_EVENT_CHARS = 1024 * 1024;
/** Characters of a response without server-sent events that are searched for an error. */
const MAX_BODY_CHARS = 64 * 1024;
/** How long the stream may go on after the last part of an answer. If it ends in time, its connection is used again. */
const STREAM_END_TIMEOUT_MS = 1_000;
/** Statuses of responses without a body. */
const NO_BODY_STATUSES = new Set([204, 205]);

/** Receives one answer while it arrives. */
export interface AnswerReceiver {
	/** The events of one read of the stream. The last one of a complete answer is `finish`. */
	onEvents(events: AnswerEvent[]): void;
	/** There is no complete answer, because of a ServiceError, ReportedError or ProviderError. It is the last call. */
	onFailure(error: unknown): void;
}

/**
 * One request to a service, and the reading of the answer. After the last event of the answer the rest of the stream is read and
 * dropped, so that the connection can be used again.
 */
export class AnswerExchange implements ServiceExchange, ResponseReceiver {
	readonly #reader: AnswerReader;
	readonly #receiver: AnswerReceiver;
	readonly #events = new ServerSentEvents();
	#exchange: ServiceExchange | null = null;
	#status = 0;
	#headers: Record<string, string> = {};
	/** The body of a response with an error status; the service client bounds it. */
	#errorBody: Buffer[] = [];
	#endTimer: NodeJS.Timeout | undefined;
	/** The answer is complete, has failed or was aborted. */
	#hasEnded = false;

	constructor(
		client: Pick<ServiceClient, 'stream'>,
		post: ServicePost,
		reader: AnswerReader,
		receiver: AnswerReceiver,
	) {
		this.#reader = reader;
		this.#receiver = receiver;
		this.#exchange = client.stream(post, this);
	}

	/** Closes the connection, unless the response has ended. The receiver is not called any more. */
	abort(): void {
		this.#hasEnded = true;
		clearTimeout(this.#endTimer);
		this.#exchange?.abort();
	}

	onHead(status: number, headers: Record<string, string>): void {
		this.#status = status;
		this.#headers = headers;
	}

	onBytes(bytes: Buffer): void {
		if (this.#hasEnded) return;
		if (this.#isError) this.#errorBody.push(bytes);
		else this.#read((events) => this.#events.feed(bytes, (event) => this.#take(event, events)));
	}

	onEnd(error: unknown): void {
		clearTimeout(this.#endTimer);
		if (this.#hasEnded) return;
		// If the body of an error does not arrive, the status is enough.
		if (this.#isError) this.#fail(statusError(this.#status, this.#headers, Buffer.concat(this.#errorBody).toString()));
		else if (error !== null) this.#fail(error);
		else this.#read((events) => this.#readEnd(events));
	}

	get #isError(): boolean {
		return this.#status > 299;
	}

	#take(event: StreamEvent, events: AnswerEvent[]): void {
		if (!this.#reader.isFinished) this.#reader.read(event, events);
	}

	#readEnd(events: AnswerEvent[]): void {
		if (NO_BODY_STATUSES.has(this.#status)) {
			throw protocolError(`The response with status ${this.#status} has no body.`);
		}
		this.#events.throwIfBodyIsError();
		this.#reader.end(events);
	}

	/** Events that were read before a failure still count. */
	#read(read: (events: AnswerEvent[]) => void): void {
		const events: AnswerEvent[] = [];
		let failure: { reason: unknown } | undefined;
		try {
			read(events);
		} catch (reason) {
			failure = { reason };
		}
		if (failure === undefined && this.#reader.isFinished) this.#finish();
		if (events.length > 0) this.#receiver.onEvents(events);
		if (failure !== undefined && !this.#hasEnded) this.#fail(failure.reason);
	}

	#finish(): void {
		this.#hasEnded = true;
		this.#endTimer = setTimeout(() => this.#exchange?.abort(), STREAM_END_TIMEOUT_MS).unref();
	}

	#fail(error: unknown): void {
		this.abort();
		this.#receiver.onFailure(error);
	}
}

/** The server-sent events in a stream of bytes. */
class ServerSentEvents {
	readonly #decoder = new TextDecoder();
	#arrived: StreamEvent[] = [];
	#isTooLarge = false;
	/** The beginning of the body while it has no event; null afterwards. */
	#body: string | null = '';
	readonly #parser = createParser({
		maxBufferSize: MAX_EVENT_CHARS,
		onEvent: (event) => void this.#arrived.push(event),
		onError: ({ type }) => {
			this.#isTooLarge ||= type === 'max-buffer-size-exceeded';
		},
	});

	/** @throws ProviderError for an event that is too large, and the errors of `take` */
	feed(bytes: Uint8Array, take: (event: StreamEvent) => unknown): void {
		const text = this.#decoder.decode(bytes, { stream: true });
		this.#parser.feed(text);
		const arrived = this.#arrived;
		this.#arrived = [];
		if (arrived.length > 0) this.#body = null;
		else if (this.#body !== null && this.#body.length < MAX_BODY_CHARS) this.#body += text;
		for (const event of arrived) take(event);
		if (this.#isTooLarge) throw providerError('The answer of the model was too large.');
	}

	/** Some services and gateways respond with status 200 and an error as JSON instead of a stream. */
	throwIfBodyIsError(): void {
		const error = this.#body === null ? null : errorIn(jsonOf(this.#body));
		if (error !== null) throw error;
	}
}
