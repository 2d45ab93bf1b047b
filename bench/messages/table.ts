import { lengthOf } from '../load/model-script.ts';
import type { Spread } from '../load/spread.ts';
import type { FirstTokenFigures } from './first-token.ts';
import type { IdleFigures } from './idle-streams.ts';
import type { ThroughputFigures } from './throughput.ts';

/** Everything that the bench has found. */
export interface MessageFigures {
	firstToken: FirstTokenFigures[];
	throughput: ThroughputFigures | null;
	idle: IdleFigures | null;
}

/** The figures for people. */
export function table({ firstToken, throughput, idle }: MessageFigures): string {
	const lines: string[][] = [];
	if (firstToken.length > 0) {
		lines.push([
			'streams',
			'model',
			'its own p50/p95',
			'added p50',
			'added p95',
			'way in p50/p95',
			'way out p50/p95',
			'messages/s',
			'tokens/s',
			'pace',
			'cores: server/model/load/others',
		]);
	}
	for (const figures of firstToken) {
		const { streams, script, own, added, wayIn, wayOut, messagesPerSecond, tokensPerSecond, pace, cores } = figures;
		lines.push([
			String(streams),
			`${script.everyMs} ms/token, ${(lengthOf(script) / 1000).toFixed(1)} s`,
			`${ms(own.p50.median)}/${ms(own.p95.median)}`,
			spread(added.p50),
			spread(added.p95),
			`${ms(wayIn.p50)}/${ms(wayIn.p95)}`,
			`${ms(wayOut.p50)}/${ms(wayOut.p95)}`,
			whole(messagesPerSecond.median),
			whole(tokensPerSecond.median),
			`${Math.round(pace * 100)} %`,
			coresText(cores),
		]);
	}
	const parts = [aligned(lines)];
	if (throughput !== null) {
		const { connections, messagesPerSecond: rate, first, processorMsPerMessage, cores } = throughput;
		const cpu = processorMsPerMessage === null ? '' : `, ${processorMsPerMessage.toFixed(2)} ms of processor time each`;
		parts.push(
			`instant model, ${connections} connections: ${whole(rate.median)} messages/s (${whole(rate.lowest)}–${whole(rate.highest)}), ` +
				`first token p50 ${ms(first.p50)} p95 ${ms(first.p95)} ms${cpu}; cores ${coresText(cores)}`,
		);
	}
	if (idle !== null) {
		const kb = (bytes: number) => (bytes / 1024).toFixed(1);
		parts.push(
			`${whole(idle.streams)} idle streams: ${kb(idle.rssEach)} KiB each (${kb(idle.heapEach)} KiB of it on the heap), ` +
				`on top of ${Math.round(idle.rssBefore / 1024 / 1024)} MiB; opened in ${idle.openMs.toFixed(2)} ms each`,
		);
	}
	return parts.join('\n');
}

function coresText({ server, model, load, others }: FirstTokenFigures['cores']): string {
	return [server, model, load, others].map((cores) => cores?.toFixed(2) ?? '?').join('/');
}

function spread({ median, lowest, highest }: Spread): string {
	return `${ms(median)} (${ms(lowest)}–${ms(highest)})`;
}

function ms(value: number): string {
	if (Number.isNaN(value)) return '–';
	return Math.abs(value) < 100 ? value.toFixed(1) : whole(value);
}

function whole(value: number): string {
	return Math.round(value).toLocaleString('en');
}

function aligned(rows: string[][]): string {
	const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
	return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}
