import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Store } from '../store/index.ts';
import { HttpMetrics } from './http-metrics.ts';
import { ReplyMetrics } from './reply-metrics.ts';
import { type MetricsSources, registerState } from './state-metrics.ts';
import { WorkMetrics } from './work-metrics.ts';

/** The figures of one server in the text format of Prometheus. Labels have names of models, and no id or text of a customer. */
export class Metrics {
	readonly #registry = new Registry();
	readonly http = new HttpMetrics(this.#registry);
	readonly work = new WorkMetrics(this.#registry);
	readonly #replies = new ReplyMetrics(this.#registry);
	#readState: () => Promise<void> = async () => {};

	/** @param version of the program */
	constructor(version: string) {
		const registers = [this.#registry];
		collectDefaultMetrics({ register: this.#registry });
		new Gauge({ name: 'parley_info', help: 'The version of the server.', labelNames: ['version'], registers }).set(
			{ version },
			1,
		);
	}

	readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

	/** Follows the server's commits and reads its state from now on. */
	observe({ store, ...sources }: MetricsSources & { store: Pick<Store, 'onCommits'> }): void {
		// Nodes of a cluster publish the events of all nodes. Each counts what it has committed itself.
		store.onCommits(({ events = [] }) => this.#replies.onCommitted(events));
		this.#readState = registerState(this.#registry, { store, ...sources });
	}

	/** All figures. */
	async text(): Promise<string> {
		await this.#readState();
		return `${await this.#registry.metrics()}${this.http.durations.text()}`;
	}
}
