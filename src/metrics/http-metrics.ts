import { Counter, type Registry } from 'prom-client';
import type { RequestObserver } from '../http/index.ts';
import { RequestDurations } from './request-durations.ts';

/** Methods with figures of their own. A client may send any word, which counts as `any`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type ExchangeEnd = Parameters<RequestObserver['onExchangeEnd']>;

/** Counts requests by operation. Event streams have no duration: their end says nothing about the server. */
export class HttpMetrics implements RequestObserver {
	readonly readsAddress = false;
	readonly durations = new RequestDurations();
	readonly #streams: Counter<'route'>;
	readonly #incomplete: Counter<'outcome'>;

	constructor(registry: Registry) {
		const registers = [registry];
		this.#streams = new Counter({
			name: 'parley_http_streams_total',
			help: 'Event streams that have ended, by operation.',
			labelNames: ['route'],
			registers,
		});
		this.#incomplete = new Counter({
			name: 'parley_http_incomplete_responses_total',
			help: 'Responses that were not sent whole: the client left, or the server closed the connection.',
			labelNames: ['outcome'],
			registers,
		});
	}

	onExchangeEnd(...[request, response, , outcome]: ExchangeEnd): void {
		if (outcome !== 'completed') this.#incomplete.inc({ outcome });
		const { route } = request;
		if (response !== null && 'events' in response) {
			this.#streams.inc({ route: route ?? 'none' });
			return;
		}
		const status = response === null ? 0 : 'status' in response ? response.status : 200;
		const method = METHODS.has(request.method) ? request.method : 'any';
		this.durations.observe(method, route ?? 'none', status, (performance.now() - request.startedAt) / 1_000);
	}
}
