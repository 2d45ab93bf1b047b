import type { Figure } from '../report/figure.ts';
import type { IsolationFigures } from './isolation.ts';
import type { OverheadFigures } from './overhead.ts';
import type { ThroughputFigures } from './throughput.ts';

/** Goal: factor by which an endpoint that never answers may slow the others' slowest deliveries. */
const MAX_ISOLATION_RATIO = 1.1;

export function throughputFigures({ endpoints, deliveries, perSecond, processorMsEach }: ThroughputFigures): Figure[] {
	const remark =
		processorMsEach === null ? '' : `${processorMsEach.median.toFixed(2)} ms of the server's processor time each`;
	const to = endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`;
	return [{ name: `deliveries to ${to}, ${deliveries} in a row`, unit: '/s', value: perSecond, remark }];
}

export function overheadFigures(found: OverheadFigures): Figure[] {
	const { endpoints, messagesPerSecond, deliveriesPerMessage } = found;
	return [
		{
			name: 'a message without endpoints, p95',
			unit: 'ms',
			value: found.without.p95,
			remark: `p50 ${found.without.p50.median.toFixed(2)} ms; ${messagesPerSecond} messages/s, not streamed`,
		},
		{
			name: `a message with ${endpoints} endpoints, p95`,
			unit: 'ms',
			value: found.with.p95,
			remark: `p50 ${found.with.p50.median.toFixed(2)} ms; ${deliveriesPerMessage} deliveries each`,
		},
		{ name: `with ${endpoints} endpoints to without, p50`, unit: '×', value: found.ratio.p50 },
	];
}

export function isolationFigures(found: IsolationFigures): Figure[] {
	const { endpoints, eventsPerSecond, samples } = found;
	return [
		{
			name: 'from event to delivery, p99',
			unit: 'ms',
			value: found.without.p99,
			remark: `p50 ${found.without.p50.median.toFixed(2)} ms; ${eventsPerSecond} events/s to ${endpoints} endpoints, ${samples} deliveries a round`,
		},
		{
			name: 'the same beside one that never answers, p99',
			unit: 'ms',
			value: found.with.p99,
			remark: `p50 ${found.with.p50.median.toFixed(2)} ms`,
		},
		{
			name: 'beside one that never answers to without, p99',
			unit: '×',
			value: found.ratio.p99,
			goal: { is: 'at most', bound: MAX_ISOLATION_RATIO },
			remark: `p50 ${found.ratio.p50.median.toFixed(2)} ×`,
		},
	];
}
