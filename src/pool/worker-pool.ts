import type { Log } from '../base/index.ts';
import type {
	ArgumentCheckJob,
	ArgumentCheckResult,
	FoldJob,
	FoldResult,
	ParsedDocument,
	ParseJob,
	SearchJob,
	SearchResult,
	TrainJob,
	TrainResult,
} from '../contract/index.ts';
import { DocumentParser } from './document-parser.ts';
import { jobFailure, requestFailure } from './failures.ts';
import { type WorkerPoolLimits, workerPoolLimits } from './limits.ts';
import { ThreadPool, type TimeLimit } from './thread-pool.ts';
import { type WorkerEntry, workerEntry } from './worker-entry.ts';

/** How a document is parsed. */
export interface ParseOptions {
	/** With no other document beside it. */
	isolated?: boolean;
}

/** The heavy work, away from the main thread: typed calls into worker threads, and into the process that parses. */
export interface WorkerPool extends AsyncDisposable {
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
	check(job: ArgumentCheckJob): Promise<ArgumentCheckResult>;
	/** How many parse and embed jobs run side by side. */
	readonly size: number;
}

export interface WorkerPoolOptions {
	threads: number;
	log: Log;
	limits?: Partial<WorkerPoolLimits>;
	/** What parses instead of `workers/parse.ts`, in tests of what hostile documents do. */
	parseWorker?: WorkerEntry;
}

/** Starts no thread and no process yet: they come with the first jobs. */
export function createWorkerPool({ threads, log, limits: overrides, parseWorker }: WorkerPoolOptions): WorkerPool {
	const limits = workerPoolLimits(threads, overrides);
	const { heapMb, maxQueued, foldTimeoutMs, trainTimeoutMs, searchTimeoutMs, checkTimeoutMs } = limits;
	const openThreads = (name: 'embed' | 'search' | 'check', maxThreads: number, idleMs: number) =>
		new ThreadPool({ name, worker: workerEntry(name), maxThreads, idleMs, heapMb, maxQueued, log });
	const parse = new DocumentParser({
		threads,
		limits,
		host: workerEntry('parse-host'),
		worker: parseWorker ?? workerEntry('parse'),
		log,
	});
	const embed = openThreads('embed', threads, 30_000);
	const search = openThreads('search', 1, 600_000);
	// Two, so that one that takes its whole time does not hold up all others.
	const check = openThreads('check', 2, 600_000);
	const whileRunning = (ms: number): TimeLimit => ({ ms, from: 'running' });

	return {
		size: threads,
		parse: (job, signal, { isolated = false } = {}) => parse.parse(job, signal, isolated),
		warmUp: () => parse.warmUp(),
		fold: (job, signal) =>
			embed.run<FoldResult>(job, whileRunning(foldTimeoutMs), signal, (cause) => jobFailure('Embedding', cause)),
		train: (job, signal) =>
			embed.run<TrainResult>(job, whileRunning(trainTimeoutMs), signal, (cause) => jobFailure('Training', cause)),
		search: (job, signal) =>
			search.run<SearchResult>(job, { ms: searchTimeoutMs, from: 'asking' }, signal, (cause) =>
				requestFailure('The search', cause),
			),
		check: (job) =>
			check.run<ArgumentCheckResult>(job, whileRunning(checkTimeoutMs), undefined, (cause) =>
				requestFailure('The check', cause),
			),
		async [Symbol.asyncDispose]() {
			await Promise.all([parse, embed, search, check].map((part) => part[Symbol.asyncDispose]()));
		},
	};
}
