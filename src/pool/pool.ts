import { Piscina } from 'piscina';
import { AppError, Gate, messageOf } from '../base/index.ts';
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
	WorkerAnswer,
} from '../contract/index.ts';
import { workerEntry } from './worker-entry.ts';

/** What jobs may take. */
export interface PoolLimits {
	/** Milliseconds that a job may run before its thread is ended; waiting for a thread does not count. */
	parseMs: number;
	foldMs: number;
	trainMs: number;
	/** Checks end themselves long before. */
	checkMs: number;
	/** Here waiting counts, because somebody waits for the answer. */
	searchMs: number;
	/** Jobs of one kind that may wait for a thread; those over it are refused at once. */
	queue: number;
	/** The heap of one thread (MB). Bounds what a hostile file can take; buffers are capped by the parsers themselves. */
	heapMb: number;
}

const LIMITS: PoolLimits = {
	parseMs: 30_000,
	foldMs: 60_000,
	trainMs: 600_000,
	checkMs: 20_000,
	searchMs: 10_000,
	queue: 1000,
	heapMb: 512,
};

/** The heavy work, away from the main thread: typed calls into worker threads. */
export interface Pool extends AsyncDisposable {
	/** @throws AppError with the reason why the file cannot be read; also when it takes too long or too much memory */
	parse(job: ParseJob, signal?: AbortSignal): Promise<ParsedDocument>;
	fold(job: FoldJob, signal?: AbortSignal): Promise<FoldResult>;
	train(job: TrainJob, signal?: AbortSignal): Promise<TrainResult>;
	/** @throws AppError `unavailable` when it takes too long or too many wait */
	search(job: SearchJob, signal?: AbortSignal): Promise<SearchResult>;
	/** @throws AppError `unavailable` when too many wait */
	check(job: CheckJob): Promise<CheckResult>;
	/** How many parse and embed jobs run side by side. */
	readonly size: number;
}

/** Threads for one kind of job. */
interface Lane {
	piscina: Piscina;
	gate: Gate;
}

/** Starts no thread yet: each pool makes its threads with its first jobs. */
export function createPool(options: { threads: number; limits?: Partial<PoolLimits> }): Pool {
	const { threads } = options;
	const limits = { ...LIMITS, ...options.limits };
	const open = (name: 'parse' | 'embed' | 'search' | 'check', maxThreads: number): Lane => {
		const { file, execArgv } = workerEntry(name);
		const piscina = new Piscina({
			filename: file.href,
			execArgv,
			minThreads: 0,
			maxThreads,
			idleTimeout: name === 'search' || name === 'check' ? 600_000 : 30_000,
			resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
		});
		return { piscina, gate: new Gate(maxThreads, limits.queue) };
	};
	const parse = open('parse', threads);
	const embed = open('embed', threads);
	const search = open('search', 1);
	// Two, so that one that takes its whole time does not hold up all others.
	const check = open('check', 2);
	const { parseMs, foldMs, trainMs, searchMs, checkMs } = limits;
	const running = (ms: number): Limit => ({ ms, from: 'running' });

	return {
		size: threads,
		parse: (job, signal) =>
			run<ParsedDocument>(parse, job, running(parseMs), signal, (cause) => unread(cause, parseMs)),
		fold: (job, signal) => run<FoldResult>(embed, job, running(foldMs), signal, (cause) => failed('Embedding', cause)),
		train: (job, signal) =>
			run<TrainResult>(embed, job, running(trainMs), signal, (cause) => failed('Training', cause)),
		search: (job, signal) =>
			run<SearchResult>(search, job, { ms: searchMs, from: 'asking' }, signal, (cause) => failed('The search', cause)),
		check: (job) => run<CheckResult>(check, job, running(checkMs), undefined, (cause) => failed('The check', cause)),
		async [Symbol.asyncDispose]() {
			await Promise.all([parse, embed, search, check].map(({ piscina }) => piscina.destroy()));
		},
	};
}

/** How long a job may take, and whether its waiting for a thread counts. */
interface Limit {
	ms: number;
	from: 'asking' | 'running';
}

async function run<T>(
	{ piscina, gate }: Lane,
	job: unknown,
	{ ms, from }: Limit,
	signal: AbortSignal | undefined,
	onFailure: (cause: unknown) => AppError,
): Promise<T> {
	let late = from === 'asking' ? AbortSignal.timeout(ms) : undefined;
	const ending = () => AbortSignal.any([signal, late].filter((one) => one !== undefined));
	let answer: WorkerAnswer<T>;
	try {
		const done = gate.run(() => {
			late ??= AbortSignal.timeout(ms);
			return piscina.run(job, { signal: from === 'asking' ? late : ending() });
		}, ending());
		// A search is short: who stops waiting for it must not cost the others the thread and what it has loaded. It keeps its
		// place until it ends, so that no more are in the queue than may be.
		answer = await (from === 'asking' ? unlessAborted(done, signal) : done);
	} catch (cause) {
		if (signal?.aborted) throw signal.reason;
		// The gate's own refusal; errors of workers are of no class of ours.
		if (cause instanceof AppError) throw cause;
		throw onFailure(late?.aborted ? late.reason : cause);
	}
	if (!answer.ok) throw new AppError(answer.error.code, answer.error.message);
	return answer.value;
}

/** The promise's outcome, or the signal's reason as soon as it aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return promise;
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal.reason);
		signal.addEventListener('abort', abort, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
	});
}

function unread(cause: unknown, ms: number): AppError {
	// A file of ours that is gone, or a disk that fails, says nothing of the document: Node words such errors `CODE: text`.
	if (/^E[A-Z0-9]+: /.test(messageOf(cause))) {
		return new AppError('unavailable', 'The stored file could not be opened.', { retry_after: 1, cause });
	}
	const outOfMemory = (cause as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
	const gaveUp = outOfMemory
		? 'Reading the file took too much memory.'
		: 'The file cannot be read: its reader gave up.';
	const sentence = isTimeout(cause) ? `Reading the file took longer than ${ms / 1000} seconds.` : gaveUp;
	return new AppError('unreadable_file', sentence, { cause });
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
