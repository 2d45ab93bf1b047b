import type { Spread } from '../load/spread.ts';
import type { IsolationFigures } from './isolation.ts';
import type { OverheadFigures } from './overhead.ts';
import type { ThroughputFigures } from './throughput.ts';

/** Everything that the bench has found. */
export interface WebhookFigures {
	throughput: ThroughputFigures[];
	overhead: OverheadFigures | null;
	isolation: IsolationFigures | null;
}

/** The figures for people. */
export function table({ throughput, overhead, isolation }: WebhookFigures): string {
	const lines: string[] = [];
	for (const { endpoints, deliveries, perSecond, processorMsEach, others } of throughput) {
		const cpu = processorMsEach === null ? '' : `, ${processorMsEach.toFixed(2)} ms of processor time each`;
		const beside = others === null ? '' : `; cores used by others ${others.toFixed(2)}`;
		lines.push(
			`${endpoints} endpoint${endpoints === 1 ? '' : 's'}, ${deliveries} deliveries: ${spread(perSecond, 0)} a second${cpu}${beside}`,
		);
	}
	if (overhead !== null) {
		const { endpoints, messagesPerSecond, deliveriesPerMessage, without, ratio } = overhead;
		lines.push(
			`${messagesPerSecond} messages a second, not streamed, in ms: without endpoints p50 ${spread(without.p50)} p95 ${spread(without.p95)};`,
			`  with ${endpoints} (${deliveriesPerMessage} deliveries each) p50 ${spread(overhead.with.p50)} p95 ${spread(overhead.with.p95)};`,
			`  ratio p50 ${spread(ratio.p50, 2)} p95 ${spread(ratio.p95, 2)}`,
		);
	}
	if (isolation !== null) {
		const { endpoints, eventsPerSecond, samples, without, ratio } = isolation;
		lines.push(
			`${eventsPerSecond} events a second to ${endpoints} endpoints, age at arrival in ms (${samples} a round): p50 ${spread(without.p50)} p99 ${spread(without.p99)};`,
			`  with one more that never answers p50 ${spread(isolation.with.p50)} p99 ${spread(isolation.with.p99)};`,
			`  ratio p50 ${spread(ratio.p50, 2)} p99 ${spread(ratio.p99, 2)}`,
		);
	}
	return lines.join('\n');
}

function spread({ median, lowest, highest }: Spread, digits = 1): string {
	const text = (value: number) => (digits === 0 ? Math.round(value).toLocaleString('en') : value.toFixed(digits));
	return `${text(median)} (${text(lowest)}–${text(highest)})`;
}
