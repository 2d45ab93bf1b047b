import type * as uWS from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { AppError, type Deferred, deferred, type Log } from '../base/index.ts';
import { BodyInlet } from './body-inlet.ts';
import { type ClientAddress, formatAddress } from './client-address.ts';
import { type Dispatcher, letGo } from './dispatch.ts';
import { readFraming } from './framing.ts';
import type { HeaderBlock } from './header-block.ts';
import type { HttpLimits } from './limits.ts';
import { IncomingRequest, type RequestOrigin } from './request.ts';
import type { Ending, RequestObserver } from './request-log.ts';
import { EVENT_STREAM_HEADERS, EventWriter } from './sse.ts';
import type { BytesReply, EventsReply, Headers, Reply } from './types.ts';

/** What an exchange needs to know of the server around it. */
export interface Surroundings {
	readonly dispatcher: Dispatcher;
	readonly limits: HttpLimits;
	readonly log: Log;
	readonly clientAddress: ClientAddress;
	/** Is told of each request when its exchange is over. */
	readonly observer: RequestObserver | null;
	/** Exchanges whose answer is not written yet, event streams included. */
	readonly pending: Set<Exchange>;
}

/** Bodies up to this size are handed over whole; the socket's buffer holds them. Larger ones wait for the client. */
const WHOLE_BYTES = 16 * 1024;
const BROKEN_HEADER = /[\r\n\0]/;
const NO_HEADERS: Headers = [];

/** Where the library's headers are copied to: it lends them only during its call, which is synchronous. */
let copied: string[] = [];
const copyHeader = (name: string, value: string): void => {
	copied.push(name, value);
};

/**
 * One request and its answer. The only place that touches the HTTP library's request and response: their rules (what may
 * be called when, and in which turn) are kept here together, hence the length of this file.
 */
export class Exchange implements RequestOrigin {
	readonly #res: uWS.HttpResponse;
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

	/** Whether the library tells when the client has gone, as it must wherever the answer is not written in its callback. */
	#watched = false;

	/** Takes a request from the HTTP library, inside its callback. */
	static accept(res: uWS.HttpResponse, req: uWS.HttpRequest, around: Surroundings): void {
		new Exchange(res, req, around).#run();
	}

	private constructor(res: uWS.HttpResponse, req: uWS.HttpRequest, around: Surroundings) {
		this.#res = res;
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
		return this.#released ? '' : formatAddress(this.#res.getRemoteAddress());
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
				this.#res.cork(() => {
					this.#writeHead(reply.status, reply.headers);
					this.#res.end(this.#request.method === 'HEAD' ? '' : reply.body, true);
				});
				this.#release();
			} catch (error) {
				this.#breakOff(error);
			}
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
		this.#res.onAborted(() => this.#leave());
	}

	#takeBody(announced: number): void {
		this.#watch();
		const res = this.#res;
		const tap = {
			pause: () => void (this.#released || res.pause()),
			resume: () => void (this.#released || res.resume()),
		};
		const inlet = new BodyInlet(tap, this.#around.limits.bodyIdleMs);
		this.#request.announced = announced;
		this.#request.inlet = inlet;
		res.onData((chunk, last) => {
			try {
				inlet.arrive(new Uint8Array(chunk), last);
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
			this.#breakOff(error);
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
		const last = this.#around.dispatcher.draining;
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
		this.#request.inlet?.stop();
		try {
			if (this.#released) letGo(reply);
			else if ('events' in reply) this.#stream(reply);
			else this.#res.cork(() => this.#writeBytes(reply, close));
		} catch (error) {
			this.#breakOff(error);
		}
	}

	#writeBytes(reply: BytesReply, close: boolean): void {
		const res = this.#res;
		const { status, body } = reply;
		this.#sent = reply;
		this.#writeHead(status, reply.headers, reply.block);
		if (status === 204 || status === 304) {
			this.#endWithoutBody(close);
		} else if (this.#request.method === 'HEAD') {
			res.writeHeader('content-length', String(body === undefined ? 0 : Buffer.byteLength(body)));
			this.#endWithoutBody(close);
		} else if (body === undefined || body.length <= WHOLE_BYTES) {
			res.end(body, close);
		} else {
			this.#writeLarge(typeof body === 'string' ? Buffer.from(body) : body, close);
			return;
		}
		this.#release();
	}

	#writeHead(status: number, headers: Headers | undefined, block?: HeaderBlock): void {
		const res = this.#res;
		// The library writes this status by itself.
		if (status !== 200) res.writeStatus(statusLine(status));
		// All headers in one call, which costs as much as all its bytes: each line begins with the end of the one before.
		let lines = this.#request.id;
		if (block !== undefined) lines += block.lines;
		// By index: taking pairs apart by iteration shows in the rate of the smallest answers.
		for (let at = 0; headers !== undefined && at < headers.length; at++) {
			const pair = headers[at] as (typeof headers)[number];
			const line = `${pair[0]}: ${pair[1]}`;
			lines += `\r\n${BROKEN_HEADER.test(line) ? mended(pair) : line}`;
		}
		res.writeHeader('x-request-id', lines);
	}

	/**
	 * The library's own way to report a length here leaves the answer pending, and its connection unusable; and this form
	 * has no closing: the header asks the client to, and idle connections end anyway.
	 */
	#endWithoutBody(close: boolean): void {
		if (close) this.#res.writeHeader('connection', 'close');
		this.#res.endWithoutBody();
	}

	/** Gives the socket as much as it takes, and more whenever it takes more. */
	#writeLarge(bytes: Uint8Array, close: boolean): void {
		this.#watch();
		const res = this.#res;
		// This form of writing has no closing of its own either.
		if (close) res.writeHeader('connection', 'close');
		this.#around.pending.add(this);
		const give = (offset: number): boolean => {
			const [ok, done] = res.tryEnd(offset === 0 ? bytes : bytes.subarray(offset), bytes.length);
			if (done) this.#release();
			else if (!ok) this.#waitForRoom();
			return ok;
		};
		res.onWritable((offset) => {
			this.#roomAgain();
			let ok = true;
			res.cork(() => {
				ok = give(offset);
			});
			return ok;
		});
		give(0);
	}

	#stream(reply: EventsReply): void {
		const res = this.#res;
		const headers = [...EVENT_STREAM_HEADERS, ...(reply.headers ?? NO_HEADERS)];
		this.#sent = reply;
		if (this.#request.method === 'HEAD') {
			letGo(reply);
			res.cork(() => {
				this.#writeHead(200, headers);
				res.endWithoutBody();
			});
			this.#release();
			return;
		}
		let begun = false;
		const write = (text: string): boolean => {
			let ok = true;
			try {
				res.cork(() => {
					if (!begun) this.#writeHead(200, headers);
					begun = true;
					ok = res.write(text);
				});
			} catch (error) {
				this.#breakOff(error);
				return false;
			}
			if (this.#around.observer !== null) this.#streamedBytes += Buffer.byteLength(text);
			if (!ok) this.#waitForRoom();
			return ok;
		};
		const end = (): void => {
			// Not with the library's order to close: in a begun chunked answer it would write that header into the body.
			res.cork(() => res.end());
			this.#release();
		};
		const fail = (error: unknown): void => {
			this.#around.log.error({ err: error, request_id: this.#request.id }, 'an event stream failed');
			// Without its proper end: the client shall not take what it has for all there is. In a later turn, because closing
			// throws away what the library has gathered in this one.
			setImmediate(() => this.#cut());
		};
		res.onWritable(() => {
			this.#roomAgain();
			this.#writer?.writable();
			return true;
		});
		this.#writer = new EventWriter(reply.events, { write, end, fail }, this.#around.limits.heartbeatMs);
	}

	#waitForRoom(): void {
		this.#stall ??= setTimeout(() => this.#cut(), this.#around.limits.stallMs);
	}

	#roomAgain(): void {
		if (this.#stall !== null) clearTimeout(this.#stall);
		this.#stall = null;
	}

	/** The client has gone; the library has taken its response back. */
	#leave(): void {
		this.#release(this.#cutOff ? 'cut_off' : 'client_left');
		this.#request.abort();
		this.#request.inlet?.fail(new AppError('invalid_request', 'The client left before its request was complete.'));
		this.#writer?.leave();
		if (this.#held !== null) letGo(this.#held);
	}

	#release(ending: Ending = 'completed'): void {
		if (!this.#released) this.#around.observer?.ended(this.#request, this.#sent, this.#streamedBytes, ending);
		this.#released = true;
		this.#around.pending.delete(this);
		if (this.#deadline !== null) clearTimeout(this.#deadline);
		this.#request.inlet?.stop();
		this.#roomAgain();
		this.#finished?.resolve();
	}

	#cut(): void {
		if (this.#released) return;
		this.#cutOff = true;
		this.#res.close();
	}

	#errorReply(error: unknown): BytesReply {
		return this.#around.dispatcher.errorReply(error, this.#request);
	}

	/** An answer that cannot be written is a defect of ours: the connection does not survive it, the process does. */
	#breakOff(error: unknown): void {
		this.#around.log.error({ err: error, request_id: this.#request.id }, 'an answer could not be written');
		if (!this.#released) this.#watch();
		this.#cut();
	}
}

/** The line of a header that would break out of it. */
function mended([name, value]: Headers[number]): string {
	return `${name.replace(/[\r\n\0]+/g, '')}: ${value.replace(/[\r\n\0]+/g, ' ')}`;
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
	let line = statusLines.get(status);
	if (line === undefined) {
		line = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
		statusLines.set(status, line);
	}
	return line;
}
