import type * as uWS from 'uWebSockets.js';
import { AppError, type Deferred, deferred, type Log } from '../base/index.ts';
import { BodyBuffer } from './body-buffer.ts';
import { ChunkedBody } from './chunked-body.ts';
import { type ClientAddress, formatAddress } from './client-address.ts';
import { discardResponse, type RequestDispatcher } from './dispatch.ts';
import { readFraming, UNKNOWN_LENGTH } from './framing.ts';
import type { HttpLimits } from './limits.ts';
import { IncomingRequest, type RequestContext } from './request.ts';
import type { ExchangeOutcome, RequestObserver } from './request-log.ts';
import type { ResponseChannel } from './response-channel.ts';
import { type ResponseHead, writeHead } from './response-head.ts';
import { EVENT_STREAM_HEADERS, type EventWriter } from './sse.ts';
import type { BytesResponse, EventStreamResponse, Headers, RouteResponse } from './types.ts';
import { writeEventStream } from './write-event-stream.ts';
import { writeLargeBody } from './write-large-body.ts';

/** What an exchange needs to know of the server around it. */
export interface ServerContext {
	readonly dispatcher: RequestDispatcher;
	readonly limits: HttpLimits;
	readonly log: Log;
	readonly clientAddress: ClientAddress;
	/** Observes each request when its exchange is over. */
	readonly observer: RequestObserver | null;
	/** Exchanges whose answer is not written yet, event streams included. */
	readonly pendingExchanges: Set<Exchange>;
}

/** Bodies up to this size are handed over whole; the socket's buffer holds them. Larger ones wait for the client. */
const SINGLE_WRITE_BYTES = 16 * 1024;
const NO_HEADERS: Headers = [];
const CLOSE_HEADER: Headers = [['connection', 'close']];

/** Where the library's headers are copied to: it lends them only during its call, which is synchronous. */
let headerPairs: string[] = [];
const copyHeader = (name: string, value: string): void => {
	headerPairs.push(name, value);
};

/**
 * One request and its answer. Together with what writes answers in several steps (large ones, event streams) the only place
 * that touches the HTTP library's request and response: their rules (what may be called when, and in which turn) are kept
 * here together, hence the length of this file.
 */
export class Exchange implements RequestContext, ResponseChannel {
	readonly res: uWS.HttpResponse;
	readonly #server: ServerContext;
	readonly #request: IncomingRequest;
	/** Until the answer must have begun; after that, until the rest of an unwanted body must have come. */
	#deadlineTimer: NodeJS.Timeout | null = null;
	/** While the client takes no byte of the answer. */
	#stallTimer: NodeJS.Timeout | null = null;
	#writer: EventWriter | null = null;
	/** The answer, while it waits for the rest of an unwanted body. */
	#delayedResponse: RouteResponse | null = null;
	/** The answer that was begun to be written. */
	#startedResponse: RouteResponse | null = null;
	/** Bytes of events handed to the socket. */
	#streamedBytes = 0;
	/** The server closes the connection before the answer's end. */
	#closedByServer = false;
	/** The answer is decided. */
	#isResponseChosen = false;
	/** The library's response is no longer ours to touch: the answer is written, or the client has gone. */
	#released = false;
	#finishedPromise: Deferred<void> | null = null;
	/** The connection must close behind the answer: the library reads the framing of this request laxly. */
	closesConnection = false;
	#chunked: ChunkedBody | null = null;

	/** Whether the library tells when the client has gone, as it must wherever the answer is not written in its callback. */
	#hasAbortHandler = false;

	/** Takes a request from the HTTP library, inside its callback. */
	static handle(res: uWS.HttpResponse, req: uWS.HttpRequest, server: ServerContext): void {
		new Exchange(res, req, server).#run();
	}

	private constructor(res: uWS.HttpResponse, req: uWS.HttpRequest, server: ServerContext) {
		this.res = res;
		this.#server = server;
		headerPairs = [];
		req.forEach(copyHeader);
		// The case-sensitive method only: asking for the other one changes it in place.
		this.#request = new IncomingRequest(req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery(), headerPairs, this);
		if (server.observer !== null) this.#request.startedAt = performance.now();
	}

	get maxJsonBytes(): number {
		return this.#server.limits.maxJsonBytes;
	}

	clientAddress(forwardedFor: string | undefined): string {
		return this.#server.clientAddress(() => this.#peerAddress(), forwardedFor);
	}

	/** The socket's other end; empty once the connection is gone. */
	#peerAddress(): string {
		return this.#released ? '' : formatAddress(this.res.getRemoteAddress());
	}

	/** Whether the answer is an event stream. */
	get streaming(): boolean {
		return this.#writer !== null;
	}

	/** Ends an event stream for the server's own reasons; other answers are left to finish. */
	async closeStream(): Promise<void> {
		if (this.#writer === null) return;
		const finished = this.#writer.finish();
		this.#request.abort();
		await finished;
	}

	/** Resolves when the answer is written or can no longer be. */
	waitUntilFinished(): Promise<void> {
		this.#finishedPromise ??= deferred();
		if (this.#released) this.#finishedPromise.resolve();
		return this.#finishedPromise.promise;
	}

	// From here on: the life of an exchange, in the order in which it happens.

	#run(): void {
		const request = this.#request;
		const framing = readFraming(request.headers);
		if (typeof framing === 'string') {
			this.#rejectFraming(framing);
			return;
		}
		if (framing === UNKNOWN_LENGTH) {
			this.#runChunked();
			return;
		}
		if (framing > 0) this.#receiveBody(framing);
		const response = this.#server.dispatcher.dispatch(request);
		if (request.body === null && 'status' in response) this.#writeNow(response);
		else this.#awaitResponse(response);
	}

	/**
	 * Answers a request whose framing is ambiguous, and closes. Not at once: the library would go on to read what lies
	 * behind such a request as the next one, and run it. While an answer is pending it closes the connection instead.
	 */
	#rejectFraming(message: string): void {
		this.#handleAbort();
		this.#server.pendingExchanges.add(this);
		const response = this.#errorResponse(new AppError('invalid_request', message));
		this.#cacheClientAddress();
		this.#startedResponse = response;
		setImmediate(() => {
			if (this.#released) return;
			try {
				this.res.cork(() => {
					this.#writeHead(response);
					this.res.end(this.#request.method === 'HEAD' ? '' : response.body, true);
				});
				this.release();
			} catch (error) {
				this.failWrite(error);
			}
		});
	}

	/**
	 * A chunked request runs in the next turn, where the library has not closed its connection by then because of what it
	 * found behind the body. Its answer is the last one of the connection. While it is pending the library refuses to run what
	 * it reads; the connection closes together with the answer, or reading stops before the answer is complete.
	 */
	#runChunked(): void {
		this.closesConnection = true;
		this.#receiveBody(UNKNOWN_LENGTH);
		this.#cacheClientAddress();
		this.#server.pendingExchanges.add(this);
		setImmediate(() => {
			if (!this.#released) this.#awaitResponse(this.#server.dispatcher.dispatch(this.#request));
		});
	}

	/** The library tells the address only before the answer is written; the line about the request comes after that. */
	#cacheClientAddress(): void {
		if (this.#server.observer !== null) void this.#request.clientAddress;
	}

	/** An answer that is written at once needs no watch, and most are. */
	#handleAbort(): void {
		if (this.#hasAbortHandler) return;
		this.#hasAbortHandler = true;
		this.res.onAborted(() => this.#onClientGone());
	}

	#receiveBody(announced: number): void {
		this.#handleAbort();
		const res = this.res;
		const flow = {
			pause: () => void (this.#released || res.pause()),
			resume: () => void (this.#released || res.resume()),
		};
		const { bodyIdleTimeoutMs, chunkedEndTimeoutMs } = this.#server.limits;
		const buffer = new BodyBuffer(flow, bodyIdleTimeoutMs);
		if (this.closesConnection) this.#chunked = new ChunkedBody(buffer, chunkedEndTimeoutMs);
		const body = this.#chunked ?? buffer;
		this.#request.announcedBytes = announced;
		this.#request.body = buffer;
		res.onData((chunk, last) => {
			try {
				body.push(new Uint8Array(chunk), last);
			} catch (error) {
				buffer.fail(error instanceof Error ? error : new Error(String(error)));
				this.#fail(error);
			}
		});
	}

	/** The answer is there, and so is all of the request: the way that most requests take, written for what it costs. */
	#writeNow(response: BytesResponse): void {
		this.#isResponseChosen = true;
		this.#cacheClientAddress();
		try {
			this.#writeBytes(response, this.#server.dispatcher.isDraining);
		} catch (error) {
			this.failWrite(error);
		}
	}

	#awaitResponse(response: RouteResponse | Promise<RouteResponse>): void {
		this.#handleAbort();
		// The library tells the address only while the connection lasts; the handler may ask later, and gets the same.
		void this.#request.clientAddress;
		this.#server.pendingExchanges.add(this);
		if (!(response instanceof Promise)) {
			this.#respond(response);
			return;
		}
		const deadlineMs = this.#request.responseTimeoutMs ?? this.#server.limits.responseTimeoutMs;
		this.#deadlineTimer = setTimeout(() => this.#onDeadline(), deadlineMs);
		response.then(
			(value) => this.#respond(value),
			(error) => this.#fail(error),
		);
	}

	#onDeadline(): void {
		const error = this.#server.dispatcher.deadlineError(this.#request);
		this.#request.body?.fail(error);
		this.#request.abort(error);
		this.#respond(this.#errorResponse(error));
	}

	#fail(error: unknown): void {
		// Whoever has left caused the failure by leaving, or will never see it.
		if (this.#isResponseChosen || this.#released) {
			this.#server.log.debug({ err: error, request_id: this.#request.id }, 'a request failed after its end');
			return;
		}
		this.#respond(this.#errorResponse(error));
	}

	#respond(response: RouteResponse): void {
		if (this.#isResponseChosen || this.#released) {
			discardResponse(response);
			return;
		}
		this.#isResponseChosen = true;
		if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
		const { body } = this.#request;
		const last = this.closesConnection || this.#server.dispatcher.isDraining;
		if (body === null || body.complete) this.#write(response, last);
		else if (body.hasStalled) this.#write(response, true);
		else {
			// Closing on a client that still sends would cost it the answer; so the rest is thrown away first, for a while.
			this.#delayedResponse = response;
			this.#deadlineTimer = setTimeout(() => this.#write(response, true), this.#server.limits.lingeringCloseMs);
			body.discard(() => this.#write(response, last));
		}
	}

	#write(response: RouteResponse, close: boolean): void {
		this.#delayedResponse = null;
		if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
		this.#stopBodyTimers();
		try {
			if (this.#released) discardResponse(response);
			else if ('events' in response) this.#stream(response);
			else this.res.cork(() => this.#writeBytes(response, close));
		} catch (error) {
			this.failWrite(error);
		}
	}

	#writeBytes(response: BytesResponse, close: boolean): void {
		const { res } = this;
		const { status, body } = response;
		this.#startedResponse = response;
		this.#writeHead(response);
		if (status === 204 || status === 304) {
			this.#endWithoutBody(close);
		} else if (this.#request.method === 'HEAD') {
			res.writeHeader('content-length', String(body === undefined ? 0 : Buffer.byteLength(body)));
			this.#endWithoutBody(close);
		} else if (body === undefined || body.length <= SINGLE_WRITE_BYTES) {
			res.end(body, close);
		} else {
			this.#handleAbort();
			// This form of writing has no closing of its own either.
			if (close) res.writeHeader('connection', 'close');
			this.#server.pendingExchanges.add(this);
			writeLargeBody(this, typeof body === 'string' ? Buffer.from(body) : body);
			return;
		}
		this.release();
	}

	#writeHead(head: ResponseHead): void {
		writeHead(this.res, this.#request.id, head);
	}

	/**
	 * The library's own way to report a length here leaves the answer pending, and its connection unusable; and this form
	 * has no closing: the header asks the client to, and idle connections end anyway.
	 */
	#endWithoutBody(close: boolean): void {
		if (close) this.res.writeHeader('connection', 'close');
		this.pauseReading();
		this.res.endWithoutBody();
	}

	#stream(response: EventStreamResponse): void {
		const headers: Headers = [
			...EVENT_STREAM_HEADERS,
			...(response.headers ?? NO_HEADERS),
			...(this.closesConnection ? CLOSE_HEADER : NO_HEADERS),
		];
		const head = { status: 200, headers };
		this.#startedResponse = response;
		if (this.#request.method === 'HEAD') {
			discardResponse(response);
			this.res.cork(() => {
				this.#writeHead(head);
				this.#endWithoutBody(false);
			});
			this.release();
			return;
		}
		this.#writer = writeEventStream(this, {
			events: response.events,
			heartbeatMs: this.#server.limits.heartbeatIntervalMs,
			writeHead: () => this.#writeHead(head),
			reportFailure: (err) => this.#server.log.error({ err, request_id: this.#request.id }, 'an event stream failed'),
		});
	}

	// What answers that are written in several steps ask for.

	countStreamedBytes(bytes: string | Uint8Array): void {
		if (this.#server.observer !== null) this.#streamedBytes += Buffer.byteLength(bytes);
	}

	get isStalled(): boolean {
		return this.#stallTimer !== null;
	}

	pauseReading(): void {
		if (this.closesConnection) this.res.pause();
	}

	startStallTimer(): void {
		this.#stallTimer ??= setTimeout(() => this.closeNow(), this.#server.limits.sendTimeoutMs);
	}

	stopStallTimer(): void {
		if (this.#stallTimer !== null) clearTimeout(this.#stallTimer);
		this.#stallTimer = null;
	}

	#stopBodyTimers(): void {
		this.#request.body?.stopTimer();
		this.#chunked?.stopTimer();
	}

	/** The client has gone; the library has taken its response back. */
	#onClientGone(): void {
		this.release(this.#closedByServer ? 'cut_off' : 'client_left');
		this.#request.abort();
		this.#request.body?.fail(new AppError('invalid_request', 'The client left before its request was complete.'));
		this.#writer?.onClientGone();
		if (this.#delayedResponse !== null) discardResponse(this.#delayedResponse);
	}

	release(outcome: ExchangeOutcome = 'completed'): void {
		if (!this.#released)
			this.#server.observer?.onExchangeEnd(this.#request, this.#startedResponse, this.#streamedBytes, outcome);
		this.#released = true;
		this.#server.pendingExchanges.delete(this);
		if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
		this.#stopBodyTimers();
		this.stopStallTimer();
		this.#finishedPromise?.resolve();
	}

	closeNow(): void {
		if (this.#released) return;
		this.#closedByServer = true;
		this.res.close();
	}

	#errorResponse(error: unknown): BytesResponse {
		return this.#server.dispatcher.errorResponse(error, this.#request);
	}

	/** An answer that cannot be written is a defect of ours: the connection does not survive it, the process does. */
	failWrite(error: unknown): void {
		this.#server.log.error({ err: error, request_id: this.#request.id }, 'an answer could not be written');
		if (!this.#released) this.#handleAbort();
		this.closeNow();
	}
}
