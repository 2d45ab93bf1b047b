import type { Log } from '../base/index.ts';
import type { IncomingRequest } from './request.ts';
import type { RouteResponse } from './types.ts';

/** How the exchange of a request ended: its answer was written, its client left before that, or the server cut it off. */
export type ExchangeOutcome = 'completed' | 'client_left' | 'cut_off';

/** Observes each request, once, when its exchange is over. */
export interface RequestObserver {
	/**
	 * @param sent the answer; null where none was begun
	 * @param streamedBytes bytes of events, where the answer is a stream
	 */
	onExchangeEnd(
		request: IncomingRequest,
		sent: RouteResponse | null,
		streamedBytes: number,
		ending: ExchangeOutcome,
	): void;
}

export interface RequestLogOptions {
	log: Log;
	/** Of successful answers of routes that are `sampled`, one in so many has a line; 0: none has. */
	sampleInterval: number;
	/** How a line names a client by its address; undefined: not at all. */
	clientNameOf(address: string): string | undefined;
}

/** Methods that a line names as they are; a client may send any word. */
const METHOD = /^[A-Z]{1,16}$/;

/** Writes one line for each request. It holds no path, query, header or body: those may hold secrets and what people say. */
export class RequestLog implements RequestObserver {
	readonly #options: RequestLogOptions;
	/** Successful answers of sampled routes since the last line of one. */
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
				outcome: outcome,
				duration_ms: Math.round((performance.now() - request.startedAt) * 10) / 10,
				request_bytes: request.body?.receivedBytes ?? 0,
				response_bytes: bodyBytesOf(request, response, streamedBytes),
				...(response !== null && 'events' in response ? { stream: true } : {}),
				...(response !== null && 'error' in response ? { error: response.error } : {}),
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

/** The bytes of the answer's body. Where the client left early, fewer were sent. */
function bodyBytesOf({ method }: IncomingRequest, response: RouteResponse | null, streamedBytes: number): number {
	if (response === null || method === 'HEAD') return 0;
	if ('events' in response) return streamedBytes;
	const { status, body } = response;
	if (body === undefined || status === 204 || status === 304) return 0;
	return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
