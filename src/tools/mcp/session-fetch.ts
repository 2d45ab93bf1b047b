import { AsyncLocalStorage } from 'node:async_hooks';
import { anySignal } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import { ToolFailure } from '../tool-failure.ts';

/** Bytes of one answer: one of images and long texts is that large, and nothing that is of use is larger. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Streams that a session may open beside its requests: a server that ends each at once is asked so often and no more. */
const MAX_STREAMS = 32;
/** Requests of one session whose answers have not begun: a server that asks us for thousands of things gets no thousands. */
const MAX_CONCURRENT_REQUESTS = 64;
/** Milliseconds for what nobody waits for: notifications, and answers to what the server asks. */
const BACKGROUND_TIMEOUT_MS = 10_000;

const HTTPS = { httpsOnly: true } as const;

/** A request of ours, and the HTTP exchanges that belong to it: the one that sends it, and those that resume its stream. */
export interface PendingRequest {
	/** Ends its exchanges. */
	readonly signal: AbortSignal;
	/** Told that its stream has ended, with the reason where it broke off; nothing more will come from it. */
	onStreamEnd(reason: unknown): void;
}

/** Tells an exchange which request it belongs to: the transport does not. */
const requestContext = new AsyncLocalStorage<PendingRequest | null>();

/** Runs what sends a request; null: what belongs to none. */
export function runInRequest<T>(request: PendingRequest | null, send: () => T): T {
	return requestContext.run(request, send);
}

/** The fetch of one session's transport: guarded, and bounded in what a server can make it do. */
export class SessionFetch {
	readonly #network: Pick<Network, 'fetch'>;
	#streams = 0;
	#concurrent = 0;

	constructor(network: Pick<Network, 'fetch'>) {
		this.#network = network;
	}

	/** As the transport calls it, with its own signal and headers in `init`. */
	readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
		const request = requestContext.getStore() ?? null;
		const isStream = init.method === 'GET';
		// To the transport 405 says that there is no such stream: it does without.
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
 * The end of what belongs to no request: the transport's own, which lives as long as the session. Requests, of which there
 * are many, are not bound to it, or something of each would be kept as long; they end when the session does all the same.
 */
function backgroundSignal({ signal }: RequestInit, isStream: boolean): AbortSignal | undefined {
	if (isStream || !signal) return signal ?? undefined;
	return anySignal(signal, AbortSignal.timeout(BACKGROUND_TIMEOUT_MS));
}

/** The response with a body that breaks off where it is too large. */
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
