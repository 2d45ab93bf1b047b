import type { Log } from '../base/index.ts';
import type { IncomingRequest } from './request.ts';
import type { Reply } from './types.ts';

/** How the exchange of a request ended: its answer was written, its client left before that, or the server cut it off. */
export type Ending = 'completed' | 'client_left' | 'cut_off';

/** Observes each request, once, when its exchange is over. */
export interface RequestObserver {
	/**
	 * @param sent the answer; null where none was begun
	 * @param streamedBytes bytes of events, where the answer is a stream
	 */
	ended(request: IncomingRequest, sent: Reply | null, streamedBytes: number, ending: Ending): void;
}

export interface RequestLogOptions {
	log: Log;
	/** Of successful answers of routes that are `sampled`, one in so many has a line; 0: none has. */
	sample: number;
	/** How a line names a client by its address; undefined: not at all. */
	nameOf(address: string): string | undefined;
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

	ended(request: IncomingRequest, sent: Reply | null, streamedBytes: number, ending: Ending): void {
		const { log, sample } = this.#options;
		const status = statusOf(sent);
		let one: { sample: number } | undefined;
		if (request.sampled && ending === 'completed' && status !== null && status < 400) {
			if (sample === 0 || ++this.#skipped < sample) return;
			this.#skipped = 0;
			if (sample > 1) one = { sample };
		}
		log.info(
			{
				request_id: request.id,
				method: METHOD.test(request.method) ? request.method : 'other',
				route: request.route,
				status,
				outcome: ending,
				duration_ms: Math.round((performance.now() - request.startedAt) * 10) / 10,
				request_bytes: request.inlet?.received ?? 0,
				response_bytes: bytesOf(request, sent, streamedBytes),
				...(sent !== null && 'events' in sent ? { stream: true } : {}),
				...(sent !== null && 'error' in sent ? { error: sent.error } : {}),
				...request.notes,
				client: this.#options.nameOf(request.clientAddress),
				...one,
			},
			'request',
		);
	}
}

function statusOf(sent: Reply | null): number | null {
	if (sent === null) return null;
	return 'status' in sent ? sent.status : 200;
}

/** The bytes of the answer's body. Where the client left early, fewer were sent. */
function bytesOf({ method }: IncomingRequest, sent: Reply | null, streamedBytes: number): number {
	if (sent === null || method === 'HEAD') return 0;
	if ('events' in sent) return streamedBytes;
	const { status, body } = sent;
	if (body === undefined || status === 204 || status === 304) return 0;
	return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
