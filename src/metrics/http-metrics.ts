import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestObserver } from '../http/index.ts';

/** Seconds. The smallest are those of the widget's configuration, the largest those of whole replies. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Observation = Histogram.Internal<'method' | 'route' | 'status'>;
type ExchangeEnd = Parameters<RequestObserver['onExchangeEnd']>;

/** Counts requests by operation. Event streams have no duration: their end says nothing about the server. */
export class HttpMetrics implements RequestObserver {
	readonly #durations: Histogram<'method' | 'route' | 'status'>;
	readonly #streams: Counter<'route'>;
	readonly #cutOff: Counter<'outcome'>;
	/** The histogram of each operation and status. Routes are few, so it is small. */
	readonly #known = new Map<string, Observation>();

	constructor(registry: Registry) {
		const registers = [registry];
		this.#durations = new Histogram({
			name: 'parley_http_request_duration_seconds',
			help: 'Time from the head of a request to the end of its response, by operation and status.',
			labelNames: ['method', 'route', 'status'],
			buckets: SECONDS,
			registers,
		});
		this.#streams = new Counter({
			name: 'parley_http_streams_total',
			help: 'Event streams that have ended, by operation.',
			labelNames: ['route'],
			registers,
		});
		this.#cutOff = new Counter({
			name: 'parley_http_incomplete_responses_total',
			help: 'Responses that were not sent whole: the client left, or the server closed the connection.',
			labelNames: ['outcome'],
			registers,
		});
	}

	onExchangeEnd(...[request, response, , outcome]: ExchangeEnd): void {
		if (outcome !== 'completed') this.#cutOff.inc({ outcome });
		const route = request.route ?? 'none';
		if (response !== null && 'events' in response) {
			this.#streams.inc({ route });
			return;
		}
		const status = response === null ? 'none' : 'status' in response ? response.status : 200;
		const key = `${request.method} ${route} ${status}`;
		let observation = this.#known.get(key);
		if (observation === undefined) {
			// A client may send any word as the method.
			const method = request.route === null ? 'any' : request.method;
			observation = this.#durations.labels({ method, route, status: String(status) });
			if (request.route !== null) this.#known.set(key, observation);
		}
		observation.observe((performance.now() - request.startedAt) / 1_000);
	}
}
