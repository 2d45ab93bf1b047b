/** Seconds. The smallest are those of the widget's configuration, the largest those of whole replies. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const NAME = 'parley_http_request_duration_seconds';
const HELP = 'Time from the head of a request to the end of its response, by operation and status.';

/** The durations of one operation with one status. */
interface Cell {
	labels: string;
	/** The requests of each bound; the last are those above all bounds. */
	counts: number[];
	sum: number;
}

/**
 * The histogram of requests. It is not one of prom-client, whose `observe` makes a key of all labels each time: that took a tenth of the
 * processor time of a request for the widget's configuration. A request costs three lookups here.
 */
export class RequestDurations {
	readonly #cells = new Map<string, Map<string, Map<number, Cell>>>();

	/** @param status 0: no response had begun */
	observe(method: string, route: string, status: number, seconds: number): void {
		const cell = this.#cells.get(method)?.get(route)?.get(status) ?? this.#add(method, route, status);
		let at = 0;
		while (at < BOUNDS.length && seconds > (BOUNDS[at] as number)) at++;
		cell.counts[at] = (cell.counts[at] as number) + 1;
		cell.sum += seconds;
	}

	/** The figures in the text format of Prometheus. */
	text(): string {
		const lines = [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`];
		for (const routes of this.#cells.values()) {
			for (const statuses of routes.values()) for (const cell of statuses.values()) lines.push(...linesOf(cell));
		}
		return `${lines.join('\n')}\n`;
	}

	#add(method: string, route: string, status: number): Cell {
		const routes = entryOf(this.#cells, method, () => new Map<string, Map<number, Cell>>());
		const statuses = entryOf(routes, route, () => new Map<number, Cell>());
		const labels = `method="${method}",route="${route}",status="${status === 0 ? 'none' : status}"`;
		return entryOf(statuses, status, () => ({ labels, counts: new Array(BOUNDS.length + 1).fill(0), sum: 0 }));
	}
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	let value = map.get(key);
	if (value === undefined) {
		value = make();
		map.set(key, value);
	}
	return value;
}

function linesOf({ labels, counts, sum }: Cell): string[] {
	let total = 0;
	const buckets = counts.map((count, at) => {
		total += count;
		return `${NAME}_bucket{${labels},le="${BOUNDS[at] ?? '+Inf'}"} ${total}`;
	});
	return [...buckets, `${NAME}_sum{${labels}} ${sum}`, `${NAME}_count{${labels}} ${total}`];
}
