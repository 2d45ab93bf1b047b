import { AppError, type Log } from '../base/index.ts';
import type {
	ArgumentCheckJob,
	ArgumentCheckResult,
	FoldJob,
	FoldResult,
	ParsedDocument,
	ParseJob,
	SearchJob,
	SearchResult,
	TextRecognition,
	TrainJob,
	TrainResult,
} from '../contract/index.ts';
import { DocumentParser } from './document-parser.ts';
import { jobFailure, requestFailure } from './failures.ts';
import { recognitionLimits, type WorkerPoolLimits, workerPoolLimits } from './limits.ts';
import { ThreadPool, type TimeLimit } from './thread-pool.ts';
import { type WorkerEntry, workerEntry } from './worker-entry.ts';

/** Options of a parse. */
export interface ParseOptions {
	/** Parse the document alone in the process. */
	isolated?: boolean;
}

/** Heavy work outside the main thread: typed calls into worker threads and into the parsing process. */
export interface WorkerPool extends AsyncDisposable {
	/**
	 * @throws AppError with the reason why the file cannot be read, `resource_limit` if it takes too much memory; `unavailable`
	 * if the file is not the cause
	 */
	parse(job: ParseJob, signal?: AbortSignal, options?: ParseOptions): Promise<ParsedDocument>;
	/**
	 * Parses a document whose `parse` has found scans, and recognises their text. It takes seconds a page, so documents wait for each
	 * other, in another process than `parse`.
	 */
	recognise(job: ParseJob, signal?: AbortSignal): Promise<ParsedDocument>;
	/** Starts the parsing process ahead of a document. */
	warmUp(): void;
	fold(job: FoldJob, signal?: AbortSignal): Promise<FoldResult>;
	/** @throws WorkLimitExceeded when it exceeds its time limit or the heap of its thread */
	train(job: TrainJob, signal?: AbortSignal): Promise<TrainResult>;
	/** @throws AppError `unavailable` when it takes too long or too many wait */
	search(job: SearchJob, signal?: AbortSignal): Promise<SearchResult>;
	/** @throws AppError `unavailable` when too many wait */
	check(job: ArgumentCheckJob): Promise<ArgumentCheckResult>;
	/** The number of parse and embed jobs that run concurrently, without tuned trainings. */
	readonly size: number;
}

export interface WorkerPoolOptions {
	threads: number;
	log: Log;
	limits?: Partial<WorkerPoolLimits>;
	/** Absent: scans are not looked for. */
	recognition?: TextRecognition | undefined;
	/** Called with the name of the threads or of the process that failed and was replaced. */
	onRestart?: (name: string) => void;
	/** Replaces `workers/parse.ts` in tests of hostile documents. */
	parseWorker?: WorkerEntry;
}

/**
 * Milliseconds that a search may take to end when the pool is closed. A thread that is terminated while SQLite reports an error
 * aborts the whole process: better-sqlite3 cannot make the error's object then.
 */
const SEARCH_CLOSE_MS = 5_000;

/** Threads and the parsing process start with the first jobs. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
	const { threads, log, limits: overrides, recognition, parseWorker, onRestart = () => {} } = options;
	const limits = workerPoolLimits(threads, overrides);
	const { heapMb, maxQueued, foldTimeoutMs, trainTimeoutMs, searchTimeoutMs, searchStopMs, checkTimeoutMs } = limits;
	const openThreads = (name: 'embed' | 'search' | 'check', maxThreads: number, idleMs: number, label: string = name) =>
		new ThreadPool({
			...{ name: label, worker: workerEntry(name), maxThreads, idleMs, heapMb, maxQueued, log },
			closeMs: name === 'search' ? SEARCH_CLOSE_MS : 0,
			onRestart: () => onRestart(label),
		});
	const host = workerEntry('parse-host');
	const worker = parseWorker ?? workerEntry('parse');
	const parse = new DocumentParser({ threads, limits, host, worker, log, onRestart: () => onRestart('parse') });
	const recognise = new DocumentParser({
		...{ threads: 1, limits: recognitionLimits(overrides), host, worker, log },
		onRestart: () => onRestart('recognise'),
	});
	const detect = recognition && ('detect' as const);
	const embed = openThreads('embed', threads, 30_000);
	// A thread of its own: a tuned training takes many seconds, and new documents never wait for it.
	const tune = openThreads('embed', 1, 30_000, 'tune');
	const search = openThreads('search', 1, 600_000);
	// Two threads: a check that uses its whole time limit does not block all others.
	const check = openThreads('check', 2, 600_000);
	const ofExecution = (ms: number): TimeLimit => ({ ms, startsAt: 'execution' });

	return {
		size: threads,
		async parse(job, signal, { isolated = false } = {}) {
			try {
				return await parse.parse({ ...job, recognition: detect }, signal, isolated);
			} catch (error) {
				// The pictures may be what exceeds the limit: without them, the text can be read.
				if (!detect || !(error instanceof AppError) || error.code !== 'resource_limit') throw error;
				return parse.parse(job, signal, isolated);
			}
		},
		recognise: (job, signal) => recognise.parse({ ...job, recognition }, signal, false),
		warmUp: () => parse.warmUp(),
		fold: (job, signal) =>
			embed.run<FoldResult>(job, ofExecution(foldTimeoutMs), signal, (cause) => jobFailure('Embedding', cause)),
		train: (job, signal) =>
			(job.tuned ? tune : embed).run<TrainResult>(job, ofExecution(trainTimeoutMs), signal, (cause) =>
				jobFailure('Training', cause),
			),
		search: (job, signal) =>
			search.run<SearchResult>(job, { ms: searchTimeoutMs, startsAt: 'call', stopMs: searchStopMs }, signal, (cause) =>
				requestFailure('The search', cause),
			),
		check: (job) =>
			check.run<ArgumentCheckResult>(job, ofExecution(checkTimeoutMs), undefined, (cause) =>
				requestFailure('The check', cause),
			),
		async [Symbol.asyncDispose]() {
			await Promise.all([parse, recognise, embed, tune, search, check].map((part) => part[Symbol.asyncDispose]()));
		},
	};
}
