import { AsyncLocalStorage } from 'node:async_hooks';
import { anySignal } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import { ToolFailure } from '../tool-failure.ts';

/** Bytes of one response: enough for images and long texts. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Streams that a session may open beside its requests, for a server that ends each at once. */
const MAX_STREAMS = 32;
/** Requests of one session without a response yet, for a server that sends thousands of requests to its client. */
const MAX_CONCURRENT_REQUESTS = 64;
/** Milliseconds for messages without a caller: notifications, and responses to the server's requests. */
const BACKGROUND_TIMEOUT_MS = 10_000;

const HTTPS = { httpsOnly: true } as const;

/** A request to the server, and its HTTP exchanges: the exchange that sends it, and exchanges that resume its stream. */
export interface PendingRequest {
	/** Aborts its exchanges. */
	readonly signal: AbortSignal;
	/** Called when its stream has ended, with the error if the connection was lost. */
	onStreamEnd(reason: unknown): void;
}

/** The request of an exchange: the transport does not pass it on. */
const requestContext = new AsyncLocalStorage<PendingRequest | null>();

/** Runs the code that sends a request; null: code that belongs to no request. */
export function runInRequest<T>(request: PendingRequest | null, send: () => T): T {
	return requestContext.run(request, send);
}

/** The fetch of one session's transport: behind the SSRF guard, with bounds against a hostile server. */
export class SessionFetch {
	readonly #network: Pick<Network, 'fetch'>;
	#streams = 0;
	#concurrent = 0;

	constructor(network: Pick<Network, 'fetch'>) {
		this.#network = network;
	}

	/** Called by the transport, with its signal and headers in `init`. */
	readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
		const request = requestContext.getStore() ?? null;
		const isStream = init.method === 'GET';
		// By 405 the transport learns that there is no such stream, and works without it.
		if (isStream && ++this.#streams > MAX_STREAMS) return new Response(null, { status: 405 });
		if (this.#concurrent >= MAX_CONCURRENT_REQUESTS)
			throw new ToolFailure('unreachable', 'Too many requests of one session at once.');
		const signal = request?.signal ?? backgroundSignal(init, isStream);
		this.#concurrent++;
		try {
			const response = await this.#network.fetch(url, { ...init, ...(signal ? { signal } : {}) }, HTTPS);
			return limitBody(response, (reason) => request?.onStreamEnd(reason));
		} finally {
			this.#concurrent--;
		}
	};
}

/**
 * The signal of exchanges without a request: the transport's, which exists as long as the session. The many requests do not
 * listen to it, because each listener would stay in memory as long; they are aborted with the session anyway.
 */
function backgroundSignal({ signal }: RequestInit, isStream: boolean): AbortSignal | undefined {
	if (isStream || !signal) return signal ?? undefined;
	return anySignal(signal, AbortSignal.timeout(BACKGROUND_TIMEOUT_MS));
}

/** The response with a body that fails where it is too large. */
function limitBody(response: Response, onEnd: (reason: unknown) => void): Response {
	const { status, headers, body } = response;
	if (!body) return response;
	const reader = body.getReader();
	let remaining = MAX_RESPONSE_BYTES;
	const stream = new ReadableStream<Uint8Array>({
		async pull(controller) {
			const end = (reason: unknown) => {
				controller.error(reason);
				onEnd(reason);
			};
			try {
				const { done, value } = await reader.read();
				if (done) {
					controller.close();
					onEnd(undefined);
					return;
				}
				remaining -= value.length;
				if (remaining >= 0) return controller.enqueue(value);
			} catch (thrown) {
				return end(thrown);
			}
			end(new ToolFailure('unusable_answer', 'The MCP server answered with more than 4 MiB.'));
			await reader.cancel();
		},
		cancel: (reason) => reader.cancel(reason),
	});
	return new Response(stream, { status, headers: [...headers] });
}
