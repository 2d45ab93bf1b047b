// A program: uses a server for minutes, with faults, and fails if its memory, handles or latency grow. scripts/soak.mjs starts it.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { call } from '../../bench/load/deploy.ts';
import { inspectable, settledMemory } from '../../bench/load/memory.ts';
import { seeded } from '../../bench/search/random.ts';
import { type ModelBehaviour, ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { descriptorsOf, threadsOf } from './process-figures.ts';
import { type Point, percentile, slopeOf } from './slope.ts';
import { Workload } from './workload.ts';

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

/** What the model does: mostly answer, also fail in every way. */
function behaviour(random: () => number): ModelBehaviour {
	const words = [{ say: 'It left ' }, { pause: 50 }, { say: 'the house ' }, { pause: 50 }, { say: 'today.' }];
	return () => {
		const dice = random();
		if (dice < 0.03) return [{ status: 500, body: '{}' }];
		if (dice < 0.05) return [{ status: 429, body: '{}' }];
		if (dice < 0.07) return [...words, { die: true }];
		if (dice < 0.08) return [{ say: 'It' }, { reset: true }];
		if (dice < 0.09) return [...words, { error: { message: 'no more' } }];
		if (dice < 0.1) return [{ say: 'It' }, { raw: 'data: {"choi\n\n' }];
		return words;
	};
}

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

const random = seeded(Number(values.seed));
await using model = await ModelServer.start();
model.setDefault(behaviour(random));
const providers = [{ id: 'soak', type: 'openai-compatible', base_url: model.baseUrl }];
await using server = await startServer({
	env: {
		PARLEY_PROVIDERS: JSON.stringify(providers),
		PARLEY_ALLOW_PRIVATE_NETWORK: '1',
		PARLEY_LOG_LEVEL: 'fatal',
		PARLEY_REQUEST_LOG: '0',
	},
	wrapperCommand: inspectable(),
});
const signal = AbortSignal.timeout(minutes * 60_000);
const workload = await Workload.open(server, 'soak/small', random, signal);
const [points] = await Promise.all([measure(server, signal), workload.run()]);

console.log(
	`\n${Object.entries(workload.counts)
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
// A reply that the model failed to give is answered 500 `model_error`.
const refused = Object.keys(workload.counts).filter(
	(name) => / 5\d\d/.test(name) && !/ (?:503|500 model_error)/.test(name),
);
if (refused.length > 0) console.log(`FAILED: answers that no client may get: ${refused.join(', ')}`);
process.exitCode = failed === 0 && refused.length === 0 ? 0 : 1;
