import type * as uWS from 'uWebSockets.js';
import { AppError, type Deferred, deferred, type Log } from '../base/index.ts';
import type { Answering } from './answering.ts';
import { BodyInlet } from './body-inlet.ts';
import { ChunkedBody } from './chunked-body.ts';
import { type ClientAddress, formatAddress } from './client-address.ts';
import { type Dispatcher, letGo } from './dispatch.ts';
import { writeEvents } from './event-answer.ts';
import { readFraming, UNKNOWN_LENGTH } from './framing.ts';
import { writeLarge } from './large-answer.ts';
import type { HttpLimits } from './limits.ts';
import { IncomingRequest, type RequestOrigin } from './request.ts';
import type { Ending, RequestObserver } from './request-log.ts';
import { type ResponseHead, writeHead } from './response-head.ts';
import { EVENT_STREAM_HEADERS, type EventWriter } from './sse.ts';
import type { BytesReply, EventsReply, Headers, Reply } from './types.ts';

/** What an exchange needs to know of the server around it. */
export interface Surroundings {
	readonly dispatcher: Dispatcher;
	readonly limits: HttpLimits;
	readonly log: Log;
	readonly clientAddress: ClientAddress;
	/** Observes each request when its exchange is over. */
	readonly observer: RequestObserver | null;
	/** Exchanges whose answer is not written yet, event streams included. */
	readonly pending: Set<Exchange>;
}

/** Bodies up to this size are handed over whole; the socket's buffer holds them. Larger ones wait for the client. */
const WHOLE_BYTES = 16 * 1024;
const NO_HEADERS: Headers = [];
const CLOSE: Headers = [['connection', 'close']];

/** Where the library's headers are copied to: it lends them only during its call, which is synchronous. */
let copied: string[] = [];
const copyHeader = (name: string, value: string): void => {
	copied.push(name, value);
};

/**
 * One request and its answer. Together with what writes answers in several steps (large ones, event streams) the only place
 * that touches the HTTP library's request and response: their rules (what may be called when, and in which turn) are kept
 * here together, hence the length of this file.
 */
export class Exchange implements RequestOrigin, Answering {
	readonly res: uWS.HttpResponse;
	readonly #around: Surroundings;
	readonly #request: IncomingRequest;
	/** Until the answer must have begun; after that, until the rest of an unwanted body must have come. */
	#deadline: NodeJS.Timeout | null = null;
	/** While the client takes no byte of the answer. */
	#stall: NodeJS.Timeout | null = null;
	#writer: EventWriter | null = null;
	/** The answer, while it waits for the rest of an unwanted body. */
	#held: Reply | null = null;
	/** The answer that was begun to be written. */
	#sent: Reply | null = null;
	/** Bytes of events handed to the socket. */
	#streamedBytes = 0;
	/** The server closes the connection before the answer's end. */
	#cutOff = false;
	/** The answer is decided. */
	#answered = false;
	/** The library's response is no longer ours to touch: the answer is written, or the client has gone. */
	#released = false;
	#finished: Deferred<void> | null = null;
	/** The connection must close behind the answer: the library reads the framing of this request laxly. */
	closing = false;
	#chunked: ChunkedBody | null = null;

	/** Whether the library tells when the client has gone, as it must wherever the answer is not written in its callback. */
	#watched = false;

	/** Takes a request from the HTTP library, inside its callback. */
	static accept(res: uWS.HttpResponse, req: uWS.HttpRequest, around: Surroundings): void {
		new Exchange(res, req, around).#run();
	}

	private constructor(res: uWS.HttpResponse, req: uWS.HttpRequest, around: Surroundings) {
		this.res = res;
		this.#around = around;
		copied = [];
		req.forEach(copyHeader);
		// The case-sensitive method only: asking for the other one changes it in place.
		this.#request = new IncomingRequest(req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery(), copied, this);
		if (around.observer !== null) this.#request.startedAt = performance.now();
	}

	get jsonBytes(): number {
		return this.#around.limits.jsonBytes;
	}

	clientAddress(forwardedFor: string | undefined): string {
		return this.#around.clientAddress(() => this.#peerAddress(), forwardedFor);
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
	finished(): Promise<void> {
		this.#finished ??= deferred();
		if (this.#released) this.#finished.resolve();
		return this.#finished.promise;
	}

	// From here on: the life of an exchange, in the order in which it happens.

	#run(): void {
		const request = this.#request;
		const framing = readFraming(request.headers);
		if (typeof framing === 'string') {
			this.#refuse(framing);
			return;
		}
		if (framing === UNKNOWN_LENGTH) {
			this.#runChunked();
			return;
		}
		if (framing > 0) this.#takeBody(framing);
		const reply = this.#around.dispatcher.dispatch(request);
		if (request.inlet === null && 'status' in reply) this.#writeNow(reply);
		else this.#wait(reply);
	}

	/**
	 * Answers a request whose framing is ambiguous, and closes. Not at once: the library would go on to read what lies
	 * behind such a request as the next one, and run it. While an answer is pending it closes the connection instead.
	 */
	#refuse(complaint: string): void {
		this.#watch();
		this.#around.pending.add(this);
		const reply = this.#errorReply(new AppError('invalid_request', complaint));
		this.#noteAddress();
		this.#sent = reply;
		setImmediate(() => {
			if (this.#released) return;
			try {
				this.res.cork(() => {
					this.#writeHead(reply);
					this.res.end(this.#request.method === 'HEAD' ? '' : reply.body, true);
				});
				this.release();
			} catch (error) {
				this.breakOff(error);
			}
		});
	}

	/**
	 * A chunked request runs in the next turn, where the library has not closed its connection by then because of what it
	 * found behind the body. Its answer is the last one of the connection. While it is pending the library refuses to run what
	 * it reads; the connection closes together with the answer, or reading stops before the answer is complete.
	 */
	#runChunked(): void {
		this.closing = true;
		this.#takeBody(UNKNOWN_LENGTH);
		this.#noteAddress();
		this.#around.pending.add(this);
		setImmediate(() => {
			if (!this.#released) this.#wait(this.#around.dispatcher.dispatch(this.#request));
		});
	}

	/** The library tells the address only before the answer is written; the line about the request comes after that. */
	#noteAddress(): void {
		if (this.#around.observer !== null) void this.#request.clientAddress;
	}

	/** An answer that is written at once needs no watch, and most are. */
	#watch(): void {
		if (this.#watched) return;
		this.#watched = true;
		this.res.onAborted(() => this.#leave());
	}

	#takeBody(announced: number): void {
		this.#watch();
		const res = this.res;
		const tap = {
			pause: () => void (this.#released || res.pause()),
			resume: () => void (this.#released || res.resume()),
		};
		const { bodyIdleMs, swallowedEndMs } = this.#around.limits;
		const inlet = new BodyInlet(tap, bodyIdleMs);
		if (this.closing) this.#chunked = new ChunkedBody(inlet, swallowedEndMs);
		const body = this.#chunked ?? inlet;
		this.#request.announced = announced;
		this.#request.inlet = inlet;
		res.onData((chunk, last) => {
			try {
				body.arrive(new Uint8Array(chunk), last);
			} catch (error) {
				inlet.fail(error instanceof Error ? error : new Error(String(error)));
				this.#fail(error);
			}
		});
	}

	/** The answer is there, and so is all of the request: the way that most requests take, written for what it costs. */
	#writeNow(reply: BytesReply): void {
		this.#answered = true;
		this.#noteAddress();
		try {
			this.#writeBytes(reply, this.#around.dispatcher.draining);
		} catch (error) {
			this.breakOff(error);
		}
	}

	#wait(reply: Reply | Promise<Reply>): void {
		this.#watch();
		// The library tells the address only while the connection lasts; the handler may ask later, and gets the same.
		void this.#request.clientAddress;
		this.#around.pending.add(this);
		if (!(reply instanceof Promise)) {
			this.#settle(reply);
			return;
		}
		const deadlineMs = this.#request.deadlineMs ?? this.#around.limits.deadlineMs;
		this.#deadline = setTimeout(() => this.#late(), deadlineMs);
		reply.then(
			(value) => this.#settle(value),
			(error) => this.#fail(error),
		);
	}

	#late(): void {
		const late = this.#around.dispatcher.late(this.#request);
		this.#request.inlet?.fail(late);
		this.#request.abort(late);
		this.#settle(this.#errorReply(late));
	}

	#fail(error: unknown): void {
		// Whoever has left caused the failure by leaving, or will never see it.
		if (this.#answered || this.#released) {
			this.#around.log.debug({ err: error, request_id: this.#request.id }, 'a request failed after its end');
			return;
		}
		this.#settle(this.#errorReply(error));
	}

	#settle(reply: Reply): void {
		if (this.#answered || this.#released) {
			letGo(reply);
			return;
		}
		this.#answered = true;
		if (this.#deadline !== null) clearTimeout(this.#deadline);
		const { inlet } = this.#request;
		const last = this.closing || this.#around.dispatcher.draining;
		if (inlet === null || inlet.complete) this.#write(reply, last);
		else if (inlet.stalled) this.#write(reply, true);
		else {
			// Closing on a client that still sends would cost it the answer; so the rest is thrown away first, for a while.
			this.#held = reply;
			this.#deadline = setTimeout(() => this.#write(reply, true), this.#around.limits.lingerMs);
			inlet.discard(() => this.#write(reply, last));
		}
	}

	#write(reply: Reply, close: boolean): void {
		this.#held = null;
		if (this.#deadline !== null) clearTimeout(this.#deadline);
		this.#stopBody();
		try {
			if (this.#released) letGo(reply);
			else if ('events' in reply) this.#stream(reply);
			else this.res.cork(() => this.#writeBytes(reply, close));
		} catch (error) {
			this.breakOff(error);
		}
	}

	#writeBytes(reply: BytesReply, close: boolean): void {
		const { res } = this;
		const { status, body } = reply;
		this.#sent = reply;
		this.#writeHead(reply);
		if (status === 204 || status === 304) {
			this.#endWithoutBody(close);
		} else if (this.#request.method === 'HEAD') {
			res.writeHeader('content-length', String(body === undefined ? 0 : Buffer.byteLength(body)));
			this.#endWithoutBody(close);
		} else if (body === undefined || body.length <= WHOLE_BYTES) {
			res.end(body, close);
		} else {
			this.#watch();
			// This form of writing has no closing of its own either.
			if (close) res.writeHeader('connection', 'close');
			this.#around.pending.add(this);
			writeLarge(this, typeof body === 'string' ? Buffer.from(body) : body);
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
		this.stopReading();
		this.res.endWithoutBody();
	}

	#stream(reply: EventsReply): void {
		const headers: Headers = [
			...EVENT_STREAM_HEADERS,
			...(reply.headers ?? NO_HEADERS),
			...(this.closing ? CLOSE : NO_HEADERS),
		];
		const head = { status: 200, headers };
		this.#sent = reply;
		if (this.#request.method === 'HEAD') {
			letGo(reply);
			this.res.cork(() => {
				this.#writeHead(head);
				this.#endWithoutBody(false);
			});
			this.release();
			return;
		}
		this.#writer = writeEvents(this, {
			events: reply.events,
			heartbeatMs: this.#around.limits.heartbeatMs,
			writeHead: () => this.#writeHead(head),
			report: (err) => this.#around.log.error({ err, request_id: this.#request.id }, 'an event stream failed'),
		});
	}

	// What answers that are written in several steps ask for.

	countStreamed(bytes: string | Uint8Array): void {
		if (this.#around.observer !== null) this.#streamedBytes += Buffer.byteLength(bytes);
	}

	get stalled(): boolean {
		return this.#stall !== null;
	}

	stopReading(): void {
		if (this.closing) this.res.pause();
	}

	waitForRoom(): void {
		this.#stall ??= setTimeout(() => this.cut(), this.#around.limits.stallMs);
	}

	roomAgain(): void {
		if (this.#stall !== null) clearTimeout(this.#stall);
		this.#stall = null;
	}

	#stopBody(): void {
		this.#request.inlet?.stop();
		this.#chunked?.stop();
	}

	/** The client has gone; the library has taken its response back. */
	#leave(): void {
		this.release(this.#cutOff ? 'cut_off' : 'client_left');
		this.#request.abort();
		this.#request.inlet?.fail(new AppError('invalid_request', 'The client left before its request was complete.'));
		this.#writer?.leave();
		if (this.#held !== null) letGo(this.#held);
	}

	release(ending: Ending = 'completed'): void {
		if (!this.#released) this.#around.observer?.ended(this.#request, this.#sent, this.#streamedBytes, ending);
		this.#released = true;
		this.#around.pending.delete(this);
		if (this.#deadline !== null) clearTimeout(this.#deadline);
		this.#stopBody();
		this.roomAgain();
		this.#finished?.resolve();
	}

	cut(): void {
		if (this.#released) return;
		this.#cutOff = true;
		this.res.close();
	}

	#errorReply(error: unknown): BytesReply {
		return this.#around.dispatcher.errorReply(error, this.#request);
	}

	/** An answer that cannot be written is a defect of ours: the connection does not survive it, the process does. */
	breakOff(error: unknown): void {
		this.#around.log.error({ err: error, request_id: this.#request.id }, 'an answer could not be written');
		if (!this.#released) this.#watch();
		this.cut();
	}
}
