// A program: uses a server for minutes, with faults, and fails if its memory, handles or latency grow. scripts/soak.mjs starts it.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { call } from '../../bench/load/deploy.ts';
import { settledMemory } from '../../bench/load/memory.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { descriptorsOf, threadsOf } from './process-figures.ts';
import { type Point, percentile, slopeOf } from './slope.ts';
import { startSoak } from './soak.ts';

const SAMPLE_MS = 10_000;
const PROBE_MS = 200;
/** The part of the time that is not measured: caches fill, code is optimized, the first knowledge base is trained. */
const WARM_UP = 0.3;
const MEBIBYTE = 1024 * 1024;

/** The highest slope of each figure, a minute. Latencies are those of the fastest tenth, which a busy machine affects least. */
const BOUNDS = {
	'heap in use (MiB)': 0.25,
	'external memory (MiB)': 0.25,
	'resident memory (MiB)': 1.5,
	'open descriptors': 1,
	threads: 0.2,
	'read, p50 (ms)': 1,
	'commit, p50 (ms)': 2,
} as const;
type FigureName = keyof typeof BOUNDS;

const { values } = parseArgs({
	options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes needs a number above 0.');

/** Milliseconds of a request. */
async function timed(work: Promise<unknown>): Promise<number> {
	const begun = performance.now();
	await work;
	return performance.now() - begun;
}

async function measure(server: ServerProcess, signal: AbortSignal): Promise<Record<FigureName, Point[]>> {
	const points = Object.fromEntries(Object.keys(BOUNDS).map((name) => [name, []])) as unknown as Record<
		FigureName,
		Point[]
	>;
	const { id } = await call(server, 'POST', '/api/v1/assistants', { name: 'Probe' });
	const begun = performance.now();
	while (!signal.aborted) {
		const reads: number[] = [];
		const commits: number[] = [];
		const end = performance.now() + SAMPLE_MS;
		while (performance.now() < end && !signal.aborted) {
			reads.push(await timed(call(server, 'GET', `/api/v1/assistants/${id}`)));
			commits.push(await timed(call(server, 'PATCH', `/api/v1/assistants/${id}`, { name: `Probe ${reads.length}` })));
			await sleep(PROBE_MS, undefined, { signal }).catch(() => {});
		}
		const at = (performance.now() - begun) / 60_000;
		const memory = await settledMemory(server);
		const figures: Record<FigureName, number> = {
			'heap in use (MiB)': memory.heapUsed / MEBIBYTE,
			'external memory (MiB)': memory.external / MEBIBYTE,
			'resident memory (MiB)': memory.rss / MEBIBYTE,
			'open descriptors': await descriptorsOf(server.pid),
			threads: await threadsOf(server.pid),
			'read, p50 (ms)': percentile(reads, 0.5),
			'commit, p50 (ms)': percentile(commits, 0.5),
		};
		for (const [name, value] of Object.entries(figures)) points[name as FigureName].push([at, value]);
		console.log(
			`${at.toFixed(1)} min: ${Object.entries(figures)
				.map(([name, value]) => `${name} ${value.toFixed(1)}`)
				.join(', ')}`,
		);
	}
	return points;
}

await using soak = await startSoak({ seed: Number(values.seed) });
const signal = AbortSignal.timeout(minutes * 60_000);
const { server, workload } = soak;
const [points] = await Promise.all([measure(server, signal), workload.run(signal)]);

console.log(
	`\n${Object.entries({ ...workload.counts, ...soak.faults })
		.sort()
		.map(([name, count]) => `${name}: ${count}`)
		.join(', ')}\n`,
);
let failed = 0;
for (const [name, bound] of Object.entries(BOUNDS)) {
	const measured = points[name as FigureName].filter(([at]) => at >= minutes * WARM_UP);
	const slope = slopeOf(measured);
	const isBounded = slope <= bound && measured.length >= 3;
	if (!isBounded) failed++;
	const range = measured.map(([, value]) => value);
	console.log(
		`${isBounded ? 'ok    ' : 'FAILED'} ${name}: ${slope.toFixed(3)} a minute (bound ${bound}), ${Math.min(...range).toFixed(1)} to ${Math.max(...range).toFixed(1)} in ${measured.length} samples`,
	);
}
const wrong = workload.wrongAnswers();
if (wrong.length > 0) console.log(`FAILED: answers that no client may get: ${wrong.join(', ')}`);
process.exitCode = failed === 0 && wrong.length === 0 ? 0 : 1;
