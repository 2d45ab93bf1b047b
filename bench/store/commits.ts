import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLoadProcess } from '../load/load-process.ts';
import { spreadOf } from '../load/spread.ts';
import type { Figure } from '../report/figure.ts';
import type { CommitCommand, CommitsResult } from './committers.ts';

const TIMEOUT_MARGIN_MS = 30_000;

/** Measures durable commits a second through the store's entry point by the number of concurrent commits, and the event-loop delay. */
export async function measureCommits({
	committers,
	seconds,
	rounds,
}: {
	committers: number[];
	seconds: number;
	rounds: number;
}): Promise<Figure[]> {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	const seen = new Map<number, CommitsResult[]>(committers.map((count) => [count, []]));
	try {
		using child = startLoadProcess<CommitCommand, CommitsResult>(new URL('./committers.ts', import.meta.url));
		const order = (count: number) =>
			child.send({ dataDir, committers: count, seconds }, seconds * 1000 + TIMEOUT_MARGIN_MS);
		await order(16);
		for (let round = 0; round < rounds; round++) {
			for (const [count, all] of seen) all.push(await order(count));
		}
	} finally {
		await rm(dataDir, { recursive: true, force: true });
	}
	const figures: Figure[] = [];
	for (const [count, all] of seen) {
		const of = (key: keyof CommitsResult) => spreadOf(all.map((one) => one[key]));
		const at = `${count} at once`;
		figures.push(
			{
				name: `commits, ${at}`,
				unit: '/s',
				value: of('perSecond'),
				remark: `${of('processorMsEach').median.toFixed(3)} ms of processor time each; the disk takes ${of('syncMs').median.toFixed(2)} ms for one write alone`,
			},
			{
				name: `event-loop delay meanwhile, ${at}, p99`,
				unit: 'ms',
				value: of('delayP99'),
				remark: `longest ${of('delayMax').highest.toFixed(1)} ms`,
			},
		);
	}
	return figures;
}
