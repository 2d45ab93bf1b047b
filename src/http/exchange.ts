import type * as uWS from 'uWebSockets.js';
import { AppError, type Deferred, deferred, NO_SPAN, ReadyItems, type Span } from '../base/index.ts';
import { formatAddress } from './client-address.ts';
import { discardResponse } from './dispatch.ts';
import { readFraming, UNKNOWN_LENGTH } from './framing.ts';
import { IncomingBody } from './incoming-body.ts';
import type { PendingExchange } from './pending-exchanges.ts';
import { isRefusal, REFUSAL_DELAY_MS } from './refusal-delay.ts';
import { copyRequest, type IncomingRequest, type RequestContext } from './request.ts';
import type { ExchangeOutcome } from './request-log.ts';
import type { ResponseChannel } from './response-channel.ts';
import { writeHead } from './response-head.ts';
import type { ServerContext } from './server-context.ts';
import type { EventWriter } from './sse.ts';
import type { BytesResponse, ChunkedResponse, EventStreamResponse, RouteResponse } from './types.ts';
import { writeBytes } from './write-bytes.ts';
import { ChunkWriter, writeChunkedHeadOnly } from './write-chunks.ts';
import { writeEventStream, writeStreamHeadOnly } from './write-event-stream.ts';

/** Any event stream, for its log line. The headers of the stream itself are not kept while it is open. */
const STREAM_RESPONSE: EventStreamResponse = { events: new ReadyItems([]) };

/**
 * One request and its response. Only this class, `IncomingBody` and the writers of responses touch the HTTP library's request
 * and response. The library's rules (which call is allowed when, and in which iteration of the event loop) are kept here
 * together, hence the length of this file.
 */
export class Exchange implements RequestContext, ResponseChannel, PendingExchange {
	readonly res: uWS.HttpResponse;
	readonly #server: ServerContext;
	readonly #request: IncomingRequest;
	/**
	 * Fires when the response has not begun in time; after that, when the rest of an unwanted body has not arrived in time, or when a
	 * delayed refusal is due.
	 */
	#deadlineTimer: NodeJS.Timeout | null = null;
	/** Runs while the client takes no byte of the response. */
	#stallTimer: NodeJS.Timeout | null = null;
	#writer: EventWriter | null = null;
	#chunkWriter: ChunkWriter | null = null;
	#incomingBody: IncomingBody | null = null;
	/** The response, while it waits for the rest of an unwanted body or is a delayed refusal. */
	#delayedResponse: RouteResponse | null = null;
	/** The response whose writing has begun. */
	#startedResponse: RouteResponse | null = null;
	/** Bytes of events that the socket took. */
	#streamedBytes = 0;
	/** The server closes the connection before the response's end. */
	#closedByServer = false;
	#isResponseChosen = false;
	/** The library's response object must not be used any more: the response is written, or the client has left. */
	#released = false;
	#finishedPromise: Deferred<void> | null = null;
	/** The library reports the client's leaving. Required for every response that is not written in its callback. */
	#hasAbortHandler = false;
	/** The connection must close after the response, because the library parses the framing of this request laxly. */
	closesConnection = false;

	/** Takes a request from the HTTP library, inside its callback. */
	static handle(res: uWS.HttpResponse, req: uWS.HttpRequest, server: ServerContext): void {
		new Exchange(res, req, server).#run();
	}

	private constructor(res: uWS.HttpResponse, req: uWS.HttpRequest, server: ServerContext) {
		this.res = res;
		this.#server = server;
		this.#request = copyRequest(req, this);
		if (server.observers.length > 0) this.#request.startedAt = performance.now();
	}

	get maxJsonBytes(): number {
		return this.#server.limits.maxJsonBytes;
	}

	get trustsSender(): boolean {
		return this.#server.trustsSender;
	}

	clientAddress(forwardedFor: string | undefined): string {
		return this.#server.clientAddress(() => this.#peerAddress(), forwardedFor);
	}

	beginSpan(request: IncomingRequest): Span {
		return this.#server.tracer?.beginRequest(request) ?? NO_SPAN;
	}

	/** The peer's address; empty once the connection is closed. */
	#peerAddress(): string {
		return this.#released ? '' : formatAddress(this.res.getRemoteAddress());
	}

	get requestId(): string {
		return this.#request.id;
	}

	get isHead(): boolean {
		return this.#request.method === 'HEAD';
	}

	get isStreaming(): boolean {
		return this.#writer !== null;
	}

	async closeStream(): Promise<void> {
		if (this.#writer === null) return;
		const finished = this.#writer.finish();
		this.#request.abort();
		await finished;
	}

	waitUntilFinished(): Promise<void> {
		this.#finishedPromise ??= deferred();
		if (this.#released) this.#finishedPromise.resolve();
		return this.#finishedPromise.promise;
	}

	// The steps of an exchange, in the order in which they happen.

	#run(): void {
		const request = this.#request;
		const framing = readFraming(request.method, request.headers);
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
	 * Rejects a request whose framing is ambiguous, and closes the connection. It does so in the next iteration of the event
	 * loop: after a response within the callback, the library would parse the following bytes as the next request and run it.
	 * While a response is pending, the library closes the connection instead.
	 */
	#rejectFraming(message: string): void {
		this.keepPending();
		const response = this.#errorResponse(new AppError('invalid_request', message));
		this.#cacheClientAddress();
		this.#startedResponse = response;
		setImmediate(() => {
			if (this.#released) return;
			try {
				this.res.cork(() => {
					writeHead(this.res, this.requestId, response);
					this.res.end(this.isHead ? '' : response.body, true);
				});
				this.release();
			} catch (error) {
				this.failWrite(error);
			}
		});
	}

	/**
	 * Runs a chunked request in the next iteration of the event loop, unless the library has closed its connection by then
	 * because of what follows the body. Its response is the last one of the connection. While the response is pending, the
	 * library does not run further requests; then the connection closes together with the response, or reading stops before
	 * the response is complete.
	 */
	#runChunked(): void {
		this.closesConnection = true;
		this.#receiveBody(UNKNOWN_LENGTH);
		this.#cacheClientAddress();
		this.keepPending();
		setImmediate(() => {
			if (!this.#released) this.#awaitResponse(this.#server.dispatcher.dispatch(this.#request));
		});
	}

	/** The library gives the address only until the response is written; the request's log line is written after that. */
	#cacheClientAddress(): void {
		if (this.#server.observesAddresses) void this.#request.clientAddress;
	}

	/** Most responses are written within the callback and need no handler. */
	#handleAbort(): void {
		if (this.#hasAbortHandler) return;
		this.#hasAbortHandler = true;
		this.res.onAborted(() => this.#onClientGone());
	}

	#receiveBody(announced: number): void {
		this.#handleAbort();
		this.#incomingBody = new IncomingBody(this.res, {
			announcedBytes: announced,
			limits: this.#server.limits,
			discardThrottle: this.#server.discardThrottle,
			clientAddress: () => this.#request.clientAddress,
			isReleased: () => this.#released,
			onError: (error) => this.#fail(error),
			smallChunkLimit: this.#server.smallChunkLimit,
			onTooManySmallChunks: () => this.#refuseSmallChunks(),
		});
		this.#request.announcedBytes = announced;
		this.#request.body = this.#incomingBody.buffer;
	}

	/** The whole request and its response are there. Most requests take this path, so it does as little as possible. */
	#writeNow(response: BytesResponse): void {
		this.#isResponseChosen = true;
		if (this.#isDelayed(response)) {
			this.keepPending();
			this.#delay(response, false);
			return;
		}
		this.#cacheClientAddress();
		try {
			this.#startedResponse = response;
			writeBytes(this, response, this.#server.dispatcher.closesConnections);
		} catch (error) {
			this.failWrite(error);
		}
	}

	#awaitResponse(response: RouteResponse | Promise<RouteResponse>): void {
		this.keepPending();
		// The library gives the address only while the connection is open; a handler may need it later.
		void this.#request.clientAddress;
		if (!(response instanceof Promise)) {
			this.#respond(response);
			return;
		}
		const deadlineMs = Math.min(
			this.#request.responseTimeoutMs ?? this.#server.limits.responseTimeoutMs,
			this.#request.givenTimeoutMs,
		);
		this.#request.deadlineAt = performance.now() + deadlineMs;
		this.#deadlineTimer = setTimeout(() => this.#onDeadline(), deadlineMs);
		response.then(
			(value) => this.#respond(value),
			(error) => this.#fail(error),
		);
	}

	/** A stream may stay open for long, so the timer is not kept either. */
	#stopDeadline(): void {
		if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
		this.#deadlineTimer = null;
	}

	#onDeadline(): void {
		const error = this.#server.dispatcher.deadlineError(this.#request);
		this.#request.body?.fail(error);
		this.#request.abort(error);
		this.#respond(this.#errorResponse(error));
	}

	#fail(error: unknown): void {
		// A client that has left caused the failure by leaving, or will never see it.
		if (this.#isResponseChosen || this.#released) {
			this.#server.log.debug({ err: error, request_id: this.requestId }, 'a request failed after its response');
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
		this.#stopDeadline();
		const { body } = this.#request;
		const last = this.closesConnection || this.#server.dispatcher.closesConnections;
		if (body === null || body.complete) this.#answer(response, last);
		else if (body.hasStalled) this.#answerUnended(response);
		else {
			// A client that is still sending would lose the response if the connection closed now (the reset discards it), so the
			// rest of the body is read and discarded first, within a time limit.
			this.#delayedResponse = response;
			this.#deadlineTimer = setTimeout(() => this.#answerUnended(response), this.#server.limits.lingeringCloseMs);
			body.discard(() => {
				// `#answerUnended` came before.
				if (this.#delayedResponse !== response) return;
				this.#stopDeadline();
				this.#answer(response, last);
			});
		}
	}

	/** The rest of the request did not arrive in time: the connection closes with the response. A stream or download needs it for longer. */
	#answerUnended(response: RouteResponse): void {
		if ('status' in response) {
			this.#write(response, true);
			return;
		}
		discardResponse(response);
		this.#write(this.#errorResponse(new AppError('invalid_request', 'The request did not end in time.')), true);
	}

	/** A response would wait until the library has passed on all chunks that it has received, so the client gets none. */
	#refuseSmallChunks(): void {
		if (this.#released) return;
		this.#server.log.debug({ request_id: this.requestId }, 'closing a connection: too many small chunks');
		this.closeNow();
	}

	/** The request has arrived whole. */
	#answer(response: RouteResponse, close: boolean): void {
		if (this.#isDelayed(response)) this.#delay(response, close);
		else this.#write(response, close);
	}

	/** Whether this is a refusal that its client must wait for. Counts it. A draining server has no time for it. */
	#isDelayed(response: RouteResponse): boolean {
		const { refusalDelay, dispatcher } = this.#server;
		if (refusalDelay === null || dispatcher.isDraining || 'events' in response || 'chunks' in response) return false;
		return isRefusal(response) && refusalDelay.mustWait(this.#request.clientAddress);
	}

	#delay(response: RouteResponse, close: boolean): void {
		this.#delayedResponse = response;
		this.#deadlineTimer = setTimeout(() => this.#write(response, close), REFUSAL_DELAY_MS);
	}

	#write(response: RouteResponse, close: boolean): void {
		this.#delayedResponse = null;
		this.#stopDeadline();
		// A stream would have ten seconds from then on. Its connection closes with it instead.
		if ('events' in response && this.#request.body?.hasEndedPaused) this.closesConnection = true;
		else this.#incomingBody?.end();
		try {
			if (this.#released) discardResponse(response);
			else if ('events' in response) this.#stream(response);
			else if ('chunks' in response) this.#writeChunks(response);
			else {
				this.#startedResponse = response;
				this.res.cork(() => writeBytes(this, response, close));
			}
		} catch (error) {
			this.failWrite(error);
		}
	}

	#stream(response: EventStreamResponse): void {
		this.#startedResponse = STREAM_RESPONSE;
		if (this.isHead) {
			discardResponse(response);
			writeStreamHeadOnly(this, response);
			return;
		}
		this.#writer = writeEventStream(this, response, this.#server.heartbeats);
	}

	#writeChunks(response: ChunkedResponse): void {
		this.#startedResponse = response;
		if (this.isHead) {
			discardResponse(response);
			writeChunkedHeadOnly(this, response);
		} else if (this.closesConnection) {
			// Reading cannot be stopped before the last chunk: the library would run what follows the body as a request.
			discardResponse(response);
			const error = new AppError('invalid_request', 'A request for a download must not have a chunked body.');
			this.#write(this.#errorResponse(error), true);
		} else {
			this.#chunkWriter = new ChunkWriter(this, response);
			void this.#chunkWriter.run();
		}
	}

	// What the writers of responses call.

	keepPending(): void {
		this.#handleAbort();
		this.#server.pendingExchanges.add(this);
	}

	countStreamedBytes(bytes: string | Uint8Array): void {
		if (this.#server.observers.length > 0) this.#streamedBytes += Buffer.byteLength(bytes);
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

	/** The client has left; the library has taken its response object back. */
	#onClientGone(): void {
		this.release(this.#closedByServer ? 'cut_off' : 'client_left');
		this.#request.abort();
		this.#request.body?.fail(new AppError('invalid_request', 'The client left before its request was complete.'));
		this.#writer?.onClientGone();
		this.#chunkWriter?.onClientGone();
		if (this.#delayedResponse !== null) discardResponse(this.#delayedResponse);
	}

	release(outcome: ExchangeOutcome = 'completed'): void {
		if (!this.#released) {
			for (const observer of this.#server.observers)
				observer.onExchangeEnd(this.#request, this.#startedResponse, this.#streamedBytes, outcome);
		}
		this.#released = true;
		this.#server.pendingExchanges.delete(this);
		this.#stopDeadline();
		this.#incomingBody?.end();
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

	reportStreamFailure(err: unknown): void {
		this.#server.log.error({ err, request_id: this.requestId }, 'an event stream failed');
	}

	/** A response that cannot be written is a defect: the connection closes, the process continues. */
	failWrite(error: unknown): void {
		this.#server.log.error({ err: error, request_id: this.requestId }, 'a response could not be written');
		if (!this.#released) this.#handleAbort();
		this.closeNow();
	}
}
