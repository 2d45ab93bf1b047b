/**
 * npm run bench -- search [--chunks N[,N…]] [--questions N] [--rounds N]
 *
 * Measures a search in a knowledge base of 1,000, 10,000 and 100,000 chunks, through the search worker as a reply's search does: one
 * at a time and eight at once, and the work of the main thread meanwhile. The texts are generated (invented words with the
 * frequencies and topics of natural ones), and trained and stored as the server does it. That takes some minutes, once. The search
 * itself takes about a minute.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { percentileOf, spreadOf } from './load/spread.ts';
import { type Figure, once } from './report/figure.ts';
import { Report } from './report/report.ts';
import { Corpus } from './search/corpus.ts';
import { searchData } from './search/data-set.ts';
import { openSearchHarness, type SearchHarness } from './search/search-harness.ts';

const CONCURRENT_SEARCHES = 8;
const GOAL_MS = 50;
const GOAL_CHUNKS = 100_000;
/** Interval at which the delay of the event loop is sampled (ms). */
const RESOLUTION_MS = 1;
/** The seed of the documents: questions are about their topics. */
const SEED = 1;

const { values } = parseArgs({
	options: {
		chunks: { type: 'string', default: '1000,10000,100000' },
		questions: { type: 'string', default: '120' },
		rounds: { type: 'string', default: '3' },
	},
});
const sizes = values.chunks.split(',').map(Number);
const questions = questionsFor(Number(values.questions));
const rounds = Number(values.rounds);

/** Results of one round with one size. */
interface RoundResult {
	sequentialMs: number[];
	concurrentMs: number[];
	/** For all searches of the round. */
	perSecond: number;
	/** Longest delay of the event loop (ms). */
	maxLoopDelayMs: number;
	/** Busy time of the main thread for each search (ms). */
	mainThreadMsPerSearch: number;
}

const report = new Report('search');
await using data = await searchData(sizes);
await using harness = await openSearchHarness(data.dataDir);
const first = new Map<number, number>();
for (const size of sizes) {
	first.set(size, await timeSearch(harness, size, questions[0] as string));
	for (const question of questions.slice(0, 30)) await timeSearch(harness, size, question);
}
const seen = new Map<number, RoundResult[]>(sizes.map((size) => [size, []]));
for (let round = 0; round < rounds; round++) {
	for (const size of sizes) seen.get(size)?.push(await measure(harness, size));
}
for (const size of sizes) report.add(...figures(size, seen.get(size) ?? []));
await report.close();

async function measure(harness: SearchHarness, size: number): Promise<RoundResult> {
	const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
	delays.enable();
	const utilisation = performance.eventLoopUtilization();
	const sequentialMs: number[] = [];
	for (const question of questions) sequentialMs.push(await timeSearch(harness, size, question));
	const waiting = [...questions];
	const concurrentMs: number[] = [];
	const started = performance.now();
	await Promise.all(
		Array.from({ length: CONCURRENT_SEARCHES }, async () => {
			for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
				concurrentMs.push(await timeSearch(harness, size, next));
			}
		}),
	);
	const perSecond = (concurrentMs.length / (performance.now() - started)) * 1000;
	delays.disable();
	const { active } = performance.eventLoopUtilization(utilisation);
	const searches = sequentialMs.length + concurrentMs.length;
	return {
		sequentialMs,
		concurrentMs,
		perSecond,
		maxLoopDelayMs: delays.max / 1e6 - RESOLUTION_MS,
		mainThreadMsPerSearch: active / searches,
	};
}

/** Duration of one search (ms). @throws Error if it finds nothing */
async function timeSearch(harness: SearchHarness, size: number, question: string): Promise<number> {
	const started = performance.now();
	const { hits } = await harness.search(data.bases.get(size) as string, question);
	if (hits.length === 0) throw new Error(`Nothing was found for "${question}".`);
	return performance.now() - started;
}

function figures(size: number, of: readonly RoundResult[]): Figure[] {
	const chunks = size.toLocaleString('en');
	const over = (value: (seen: RoundResult) => number) => spreadOf(of.map(value));
	const ms = (name: string, value: (seen: RoundResult) => number): Figure => ({
		name: `${name}, ${chunks} chunks`,
		unit: 'ms',
		value: over(value),
	});
	const p95 = ms('search p95', ({ sequentialMs }) => percentileOf(sequentialMs, 0.95));
	if (size === GOAL_CHUNKS) p95.goal = { is: 'at most', bound: GOAL_MS };
	return [
		ms('search p50', ({ sequentialMs }) => percentileOf(sequentialMs, 0.5)),
		p95,
		ms(`p95 of ${CONCURRENT_SEARCHES} at once`, ({ concurrentMs }) => percentileOf(concurrentMs, 0.95)),
		{
			name: `searches, ${CONCURRENT_SEARCHES} at once, ${chunks} chunks`,
			unit: '/s',
			value: over(({ perSecond }) => perSecond),
		},
		{
			...ms('main thread late by at most', ({ maxLoopDelayMs }) => maxLoopDelayMs),
			remark: 'the event loop, while the worker searches',
		},
		ms('main thread busy a search', ({ mainThreadMsPerSearch }) => mainThreadMsPerSearch),
		{
			name: `first search after a start, ${chunks} chunks`,
			unit: 'ms',
			value: once(first.get(size) as number),
			remark: 'with the start of the worker, at the first size',
		},
	];
}

function questionsFor(count: number): string[] {
	const corpus = new Corpus(SEED);
	return Array.from({ length: count }, () => corpus.question());
}
