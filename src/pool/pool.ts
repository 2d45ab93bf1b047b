import { Piscina } from 'piscina';
import { AppError } from '../base/index.ts';
import type {
	FoldJob,
	FoldResult,
	ParsedDocument,
	ParseJob,
	SearchJob,
	SearchResult,
	TrainJob,
	TrainResult,
	WorkerAnswer,
} from '../contract/index.ts';
import { workerEntry } from './worker-entry.ts';

/** Milliseconds that a job may run before its thread is ended. */
const PARSE_MS = 30_000;
const FOLD_MS = 60_000;
const TRAIN_MS = 600_000;
const SEARCH_MS = 10_000;

/** Jobs that may wait for a thread; searches over it are refused at once. */
const QUEUE = 1000;

/** The heap of one thread (MB). Bounds what a hostile file can take; buffers are capped by the parsers themselves. */
const HEAP_MB = 512;

/** The heavy work, away from the main thread: typed calls into worker threads. */
export interface Pool extends AsyncDisposable {
	/** @throws AppError with the reason why the file cannot be read; also when it takes too long or too much memory */
	parse(job: ParseJob, signal?: AbortSignal): Promise<ParsedDocument>;
	fold(job: FoldJob, signal?: AbortSignal): Promise<FoldResult>;
	train(job: TrainJob, signal?: AbortSignal): Promise<TrainResult>;
	/** @throws AppError `unavailable` when it takes too long or too many wait */
	search(job: SearchJob, signal?: AbortSignal): Promise<SearchResult>;
	/** How many parse and embed jobs run side by side. */
	readonly size: number;
}

/** Starts no thread yet: each pool makes its threads with its first jobs. */
export function createPool({ threads }: { threads: number }): Pool {
	const open = (name: 'parse' | 'embed' | 'search', maxThreads: number) => {
		const { file, execArgv } = workerEntry(name);
		return new Piscina({
			filename: file.href,
			execArgv,
			minThreads: 0,
			maxThreads,
			idleTimeout: name === 'search' ? 600_000 : 30_000,
			maxQueue: QUEUE,
			resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
		});
	};
	const parse = open('parse', threads);
	const embed = open('embed', threads);
	const search = open('search', 1);

	return {
		size: threads,
		parse: (job, signal) =>
			run<ParsedDocument>(
				parse,
				job,
				PARSE_MS,
				signal,
				(cause) => new AppError('unreadable_file', unread(cause), { cause }),
			),
		fold: (job, signal) => run<FoldResult>(embed, job, FOLD_MS, signal, (cause) => failed('Embedding', cause)),
		train: (job, signal) => run<TrainResult>(embed, job, TRAIN_MS, signal, (cause) => failed('Training', cause)),
		search: (job, signal) => run<SearchResult>(search, job, SEARCH_MS, signal, (cause) => failed('The search', cause)),
		async [Symbol.asyncDispose]() {
			await Promise.all([parse.destroy(), embed.destroy(), search.destroy()]);
		},
	};
}

async function run<T>(
	pool: Piscina,
	job: unknown,
	ms: number,
	signal: AbortSignal | undefined,
	onFailure: (cause: unknown) => AppError,
): Promise<T> {
	const deadline = AbortSignal.timeout(ms);
	let answer: WorkerAnswer<T>;
	try {
		answer = await pool.run(job, { signal: signal ? AbortSignal.any([signal, deadline]) : deadline });
	} catch (cause) {
		if (signal?.aborted) throw signal.reason;
		throw onFailure(deadline.aborted ? deadline.reason : cause);
	}
	if (!answer.ok) throw new AppError(answer.error.code, answer.error.message);
	return answer.value;
}

function unread(cause: unknown): string {
	if (isTimeout(cause)) return `Reading the file took longer than ${PARSE_MS / 1000} seconds.`;
	const outOfMemory = (cause as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
	return outOfMemory ? 'Reading the file took too much memory.' : 'The file cannot be read: its reader gave up.';
}

function isTimeout(cause: unknown): boolean {
	return cause instanceof DOMException && cause.name === 'TimeoutError';
}

function failed(what: string, cause: unknown): AppError {
	return new AppError('unavailable', `${what} ${isTimeout(cause) ? 'took too long' : 'failed'}.`, {
		retry_after: 1,
		cause,
	});
}
