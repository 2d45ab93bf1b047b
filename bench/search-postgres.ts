/**
 * npm run bench -- search-postgres [--chunks N] [--questions N] [--rounds N]
 *
 * Measures a search on PostgreSQL in a knowledge base of 100,000 chunks, through the search worker: the first search, which loads the
 * index into memory, searches in the loaded index, and searches after a change. PostgreSQL is started in a temporary folder; it does not
 * sync its files, which searches do not notice. The texts are those of the bench `search`. Their basis is trained on a part of them.
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createLog } from '../src/base/index.ts';
import { createWorkerPool } from '../src/pool/index.ts';
import { openPostgresStore } from '../src/store/postgres/index.ts';
import { skipWithoutPostgres, startPostgres } from '../test/support/postgres.ts';
import { percentileOf, spreadOf } from './load/spread.ts';
import { type Figure, once } from './report/figure.ts';
import { Report } from './report/report.ts';
import { Corpus } from './search/corpus.ts';
import { PostgresIndex } from './search/postgres-index.ts';

const GOAL_MS = 50;
const GOAL_CHUNKS = 100_000;
/** The seed of the documents: questions are about their topics. */
const SEED = 1;
/** The bench measures how long a search takes that loads the index. */
const SEARCH_TIMEOUT_MS = 120_000;
/** Chunks of a document that is added between two searches. */
const ADDED_CHUNKS = 20;

const { values } = parseArgs({
	options: {
		chunks: { type: 'string', default: String(GOAL_CHUNKS) },
		questions: { type: 'string', default: '120' },
		rounds: { type: 'string', default: '3' },
	},
});
const size = Number(values.chunks);
const rounds = Number(values.rounds);
const corpus = new Corpus(SEED);
const questions = Array.from({ length: Number(values.questions) }, () => corpus.question());

if (skipWithoutPostgres) console.log(skipWithoutPostgres);
else await measureAll();

async function measureAll(): Promise<void> {
	const report = new Report('search-postgres');
	await using server = await startPostgres();
	const url = await server.database('bench');
	await using store = await openPostgresStore({ url });
	const index = await PostgresIndex.build(store, SEED, size);
	const pool = () =>
		createWorkerPool({ threads: 1, log: createLog('silent'), limits: { searchTimeoutMs: SEARCH_TIMEOUT_MS } });
	await using searching = pool();
	const timeSearch = async (question: string, by = searching) => {
		const started = performance.now();
		const { hits } = await by.search({ ...index.target(url), query: question, top_k: 5, min_score: 0 });
		if (hits.length === 0) throw new Error(`Nothing was found for "${question}".`);
		return performance.now() - started;
	};
	const firstMs = await timeSearch(questions[0] as string);
	for (const question of questions.slice(0, 30)) await timeSearch(question);
	const loadedMs: number[][] = [];
	const changedMs: number[][] = [];
	for (let round = 0; round < rounds; round++) {
		const loaded: number[] = [];
		for (const question of questions) loaded.push(await timeSearch(question));
		loadedMs.push(loaded);
		const changed: number[] = [];
		for (const question of questions.slice(0, 30)) {
			await index.addDocument(ADDED_CHUNKS);
			changed.push(await timeSearch(question));
		}
		changedMs.push(changed);
	}
	report.add(...figures(loadedMs, changedMs, firstMs));
	await report.close();
}

function figures(loadedMs: number[][], changedMs: number[][], firstMs: number): Figure[] {
	const chunks = size.toLocaleString('en');
	const quantile = (of: number[][], share: number) => spreadOf(of.map((times) => percentileOf(times, share)));
	const p95: Figure = { name: `search p95, ${chunks} chunks`, unit: 'ms', value: quantile(loadedMs, 0.95) };
	if (size === GOAL_CHUNKS) p95.goal = { is: 'at most', bound: GOAL_MS };
	return [
		{ name: `search p50, ${chunks} chunks`, unit: 'ms', value: quantile(loadedMs, 0.5) },
		p95,
		{
			...{ name: `search p95 after each change, ${chunks} chunks`, unit: 'ms', value: quantile(changedMs, 0.95) },
			remark: `a document of ${ADDED_CHUNKS} chunks is added before each search`,
		},
		{
			...{ name: `first search, ${chunks} chunks`, unit: 'ms', value: once(firstMs) },
			remark: 'with the start of the worker and the load of the index',
		},
	];
}
