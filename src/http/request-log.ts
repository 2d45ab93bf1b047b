import type { Log } from '../base/index.ts';
import type { IncomingRequest } from './request.ts';
import type { RouteResponse } from './types.ts';

/** How an exchange ended: its response was written, the client left before that, or the server closed the connection. */
export type ExchangeOutcome = 'completed' | 'client_left' | 'cut_off';

/** Observes each request, once, when its exchange is over. */
export interface RequestObserver {
	/** Whether it reads the client's address, which costs time for each request. */
	readonly readsAddress: boolean;
	/**
	 * @param response null if no response had begun
	 * @param streamedBytes bytes of events, if the response is a stream
	 */
	onExchangeEnd(
		request: IncomingRequest,
		response: RouteResponse | null,
		streamedBytes: number,
		outcome: ExchangeOutcome,
	): void;
}

export interface RequestLogOptions {
	log: Log;
	/** For routes with `isLogSampled`: the number of successful responses per log line; 0: no lines. */
	sampleInterval: number;
	/** The name of a client in the log, by its address; undefined: none. */
	clientNameOf(address: string): string | undefined;
}

/** Methods that are logged unchanged. A client may send any word. */
const METHOD = /^[A-Z]{1,16}$/;

/** Logs one line for each request. It has no path, query, header or body: those may contain secrets and private text. */
export class RequestLog implements RequestObserver {
	readonly readsAddress = true;
	readonly #options: RequestLogOptions;
	/** Successful responses of sampled routes since the last line. */
	#skipped = 0;

	constructor(options: RequestLogOptions) {
		this.#options = options;
	}

	onExchangeEnd(
		request: IncomingRequest,
		response: RouteResponse | null,
		streamedBytes: number,
		outcome: ExchangeOutcome,
	): void {
		const { log, sampleInterval } = this.#options;
		const status = statusOf(response);
		let sampling: { sample: number } | undefined;
		if (request.sampled && outcome === 'completed' && status !== null && status < 400) {
			if (sampleInterval === 0 || ++this.#skipped < sampleInterval) return;
			this.#skipped = 0;
			if (sampleInterval > 1) sampling = { sample: sampleInterval };
		}
		log.info(
			{
				request_id: request.id,
				method: METHOD.test(request.method) ? request.method : 'other',
				route: request.route,
				status,
				outcome,
				duration_ms: Math.round((performance.now() - request.startedAt) * 10) / 10,
				request_bytes: request.body?.receivedBytes ?? 0,
				response_bytes: bodyBytesOf(request, response, streamedBytes),
				...(response !== null && 'events' in response ? { stream: true } : {}),
				...(response !== null && 'error' in response ? { error: response.error?.code } : {}),
				...request.logFields,
				client: this.#options.clientNameOf(request.clientAddress),
				...sampling,
			},
			'request',
		);
	}
}

function statusOf(response: RouteResponse | null): number | null {
	if (response === null) return null;
	return 'status' in response ? response.status : 200;
}

/** The bytes of the response's body. If the client left early, fewer were sent. */
function bodyBytesOf({ method }: IncomingRequest, response: RouteResponse | null, streamedBytes: number): number {
	if (response === null || method === 'HEAD') return 0;
	if (!('status' in response)) return streamedBytes;
	const { status, body } = response;
	if (body === undefined || status === 204 || status === 304) return 0;
	return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
