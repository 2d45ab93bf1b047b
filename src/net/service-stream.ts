import type { Dispatcher } from 'undici';
import { isRedirect } from './redirect.ts';
import { ResponseLimits } from './response-limits.ts';
import { redirectRefused, ServiceError, serviceFailure, serviceTimeout } from './service-error.ts';

/** A POST request to a service. */
export interface ServicePost {
	url: URL;
	/** By lower-case name. */
	headers: Record<string, string>;
	body: string;
}

/** Receives a response while it arrives: the head, the bytes of the body, the end. */
export interface ResponseReceiver {
	/** @param headers by lower-case name, repeated ones joined by a comma */
	onHead(status: number, headers: Record<string, string>): void;
	onBytes(bytes: Buffer): void;
	/** The last call. @param error null after a complete response; otherwise a ServiceError */
	onEnd(error: unknown): void;
}

/** A request and its response. */
export interface ServiceExchange {
	/** Closes the connection, unless the response has ended. The receiver is not called any more. */
	abort(): void;
}

/** Limits for one exchange. */
export interface ServiceStreamLimits {
	timeoutMs: number;
	maxBodyBytes: number;
	maxLineBytes: number;
	/** Bytes that are read of the body of a response with an error status. */
	maxErrorBytes: number;
}

/**
 * Sends a request, and passes each part of the response on as soon as it arrives. It does not wait for its receiver: the receiver
 * bounds what it keeps, and the limits bound the rest.
 */
export function streamFromService(
	dispatcher: Dispatcher,
	post: ServicePost,
	receiver: ResponseReceiver,
	limits: ServiceStreamLimits,
): ServiceExchange {
	return new StreamedExchange(dispatcher, post, receiver, limits);
}

class StreamedExchange implements ServiceExchange, Dispatcher.DispatchHandler {
	readonly #url: URL;
	readonly #receiver: ResponseReceiver;
	readonly #limits: ServiceStreamLimits;
	readonly #bodyLimits: ResponseLimits;
	readonly #timer: NodeJS.Timeout;
	#controller: Dispatcher.DispatchController | null = null;
	/** Bytes that are still read of a response with an error status; null for another status. */
	#remainingErrorBytes: number | null = null;
	#hasEnded = false;

	constructor(
		dispatcher: Dispatcher,
		{ url, headers, body }: ServicePost,
		receiver: ResponseReceiver,
		limits: ServiceStreamLimits,
	) {
		this.#url = url;
		this.#receiver = receiver;
		this.#limits = limits;
		this.#bodyLimits = new ResponseLimits(limits);
		const { timeoutMs } = limits;
		this.#timer = setTimeout(() => this.#closeWith(serviceTimeout(timeoutMs)), timeoutMs);
		const path = `${url.pathname}${url.search}`;
		dispatcher.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, this);
	}

	abort(): void {
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		clearTimeout(this.#timer);
		this.#controller?.abort(new Error('no longer needed'));
	}

	// What the HTTP library calls.

	onRequestStart(controller: Dispatcher.DispatchController): void {
		this.#controller = controller;
		// It ended while it waited for a connection.
		if (this.#hasEnded) controller.abort(new Error('no longer needed'));
	}

	onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
		if (this.#hasEnded || status < 200) return;
		if (isRedirect(status)) {
			this.#closeWith(redirectRefused(this.#url));
			return;
		}
		if (status > 299) this.#remainingErrorBytes = this.#limits.maxErrorBytes;
		this.#receiver.onHead(status, flatHeadersOf(headers));
	}

	onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
		if (this.#hasEnded) return;
		if (this.#remainingErrorBytes !== null) {
			this.#receiveError(bytes, this.#remainingErrorBytes);
			return;
		}
		const excess = this.#bodyLimits.add(bytes);
		if (excess === null) this.#receiver.onBytes(bytes);
		else this.#closeWith(new ServiceError('too_large', excess));
	}

	onResponseEnd(): void {
		this.#end(null);
	}

	onResponseError(_: Dispatcher.DispatchController, error: Error): void {
		this.#end(serviceFailure(error, this.#url));
	}

	/** The beginning of an error is enough. The rest is not read. */
	#receiveError(bytes: Buffer, remaining: number): void {
		this.#remainingErrorBytes = remaining - bytes.length;
		this.#receiver.onBytes(bytes.subarray(0, remaining));
		if (this.#remainingErrorBytes <= 0) this.#closeWith(null);
	}

	#closeWith(error: unknown): void {
		if (this.#hasEnded) return;
		this.#end(error);
		this.#controller?.abort(new Error('no longer needed'));
	}

	#end(error: unknown): void {
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		clearTimeout(this.#timer);
		this.#receiver.onEnd(error);
	}
}

function flatHeadersOf(headers: Record<string, unknown>): Record<string, string> {
	const flat: Record<string, string> = {};
	for (const [name, value] of Object.entries(headers)) {
		if (name !== 'set-cookie') flat[name] = Array.isArray(value) ? value.join(', ') : String(value);
	}
	return flat;
}
