import type { Log } from '../base/index.ts';
import type {
	CheckJob,
	CheckResult,
	FoldJob,
	FoldResult,
	ParsedDocument,
	ParseJob,
	SearchJob,
	SearchResult,
	TrainJob,
	TrainResult,
} from '../contract/index.ts';
import { failed, jobFailed } from './failures.ts';
import { limitsFor, type PoolLimits } from './limits.ts';
import { ParseLane } from './parse-lane.ts';
import { Threads, type TimeLimit } from './threads.ts';
import { type WorkerEntry, workerEntry } from './worker-entry.ts';

/** How a document is parsed. */
export interface ParseOptions {
	/** With no other document beside it. */
	alone?: boolean;
}

/** The heavy work, away from the main thread: typed calls into worker threads, and into the process that parses. */
export interface Pool extends AsyncDisposable {
	/**
	 * @throws AppError with the reason why the file cannot be read, `resource_limit` where it takes too much memory; `unavailable`
	 * where that is none of the file's faults
	 */
	parse(job: ParseJob, signal?: AbortSignal, options?: ParseOptions): Promise<ParsedDocument>;
	/** Starts the process that parses where it does not run, because a document is about to come. */
	warmUp(): void;
	fold(job: FoldJob, signal?: AbortSignal): Promise<FoldResult>;
	train(job: TrainJob, signal?: AbortSignal): Promise<TrainResult>;
	/** @throws AppError `unavailable` when it takes too long or too many wait */
	search(job: SearchJob, signal?: AbortSignal): Promise<SearchResult>;
	/** @throws AppError `unavailable` when too many wait */
	check(job: CheckJob): Promise<CheckResult>;
	/** How many parse and embed jobs run side by side. */
	readonly size: number;
}

export interface PoolOptions {
	threads: number;
	log: Log;
	limits?: Partial<PoolLimits>;
	/** What parses instead of `workers/parse.ts`, in tests of what hostile documents do. */
	parseWorker?: WorkerEntry;
}

/** Starts no thread and no process yet: they come with the first jobs. */
export function createPool({ threads, log, limits: overrides, parseWorker }: PoolOptions): Pool {
	const limits = limitsFor(threads, overrides);
	const { heapMb, queue, foldMs, trainMs, searchMs, checkMs } = limits;
	const open = (name: 'embed' | 'search' | 'check', maxThreads: number, idleMs: number) =>
		new Threads({ name, worker: workerEntry(name), maxThreads, idleMs, heapMb, queue, log });
	const parse = new ParseLane({
		threads,
		limits,
		host: workerEntry('parse-host'),
		worker: parseWorker ?? workerEntry('parse'),
		log,
	});
	const embed = open('embed', threads, 30_000);
	const search = open('search', 1, 600_000);
	// Two, so that one that takes its whole time does not hold up all others.
	const check = open('check', 2, 600_000);
	const running = (ms: number): TimeLimit => ({ ms, from: 'running' });

	return {
		size: threads,
		parse: (job, signal, { alone = false } = {}) => parse.parse(job, signal, alone),
		warmUp: () => parse.warmUp(),
		fold: (job, signal) =>
			embed.run<FoldResult>(job, running(foldMs), signal, (cause) => jobFailed('Embedding', cause)),
		train: (job, signal) =>
			embed.run<TrainResult>(job, running(trainMs), signal, (cause) => jobFailed('Training', cause)),
		search: (job, signal) =>
			search.run<SearchResult>(job, { ms: searchMs, from: 'asking' }, signal, (cause) => failed('The search', cause)),
		check: (job) => check.run<CheckResult>(job, running(checkMs), undefined, (cause) => failed('The check', cause)),
		async [Symbol.asyncDispose]() {
			await Promise.all([parse, embed, search, check].map((lane) => lane[Symbol.asyncDispose]()));
		},
	};
}
