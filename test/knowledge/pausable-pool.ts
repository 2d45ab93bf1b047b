import { type Deferred, deferred } from '../../src/base/index.ts';
import type { ParseJob, TrainJob } from '../../src/contract/index.ts';
import type { WorkerPool } from '../../src/pool/index.ts';
import { openSharedWorkerPool } from '../support/shared-worker-pool.ts';

/** A latch that a test may close: callers wait until it is opened, or until their signal aborts. */
class Latch<T> {
	waiting = 0;
	#gate: Deferred<void> | undefined;
	#holds: (what: T) => boolean = () => true;

	close(holds: (what: T) => boolean = () => true): void {
		this.#gate ??= deferred();
		this.#holds = holds;
	}

	open(): void {
		this.#gate?.resolve();
		this.#gate = undefined;
	}

	async wait(what: T, signal: AbortSignal | undefined): Promise<void> {
		if (!this.#gate || !this.#holds(what)) return;
		this.waiting++;
		const aborted = new Promise((_resolve, reject) => {
			signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
		});
		try {
			await Promise.race([this.#gate.promise, aborted]);
		} finally {
			this.waiting--;
		}
	}
}

/**
 * The real workers behind latches that a test may close: before a parse and after a training. It can be used again after its
 * disposal, so that a server and its restart may share it.
 */
export class PausablePool implements WorkerPool {
	readonly size = 2;
	readonly trainLatch = new Latch<TrainJob>();
	/** Files parsed so far. */
	parsed = 0;
	/** For each parse: whether the file was to be parsed alone. */
	readonly isolated: boolean[] = [];
	/** The error with which a parse, a training, or the embedding of new chunks fails. */
	parseFailure: (job: ParseJob) => Error | undefined = () => undefined;
	trainFailure: (job: TrainJob) => Error | undefined = () => undefined;
	foldFailure: () => Error | undefined = () => undefined;
	/** Called before each search is passed to the workers. */
	beforeSearch: () => Promise<void> = async () => {};
	readonly #parseLatch = new Latch<ParseJob>();
	#real: WorkerPool | undefined;

	/** Parses that wait at the latch. */
	get waiting(): number {
		return this.#parseLatch.waiting;
	}

	/** Makes parses wait from now on; only those of some files if `holds` is given. */
	pause(holds?: (job: ParseJob) => boolean): void {
		this.#parseLatch.close(holds);
	}

	resume(): void {
		this.#parseLatch.open();
	}

	async parse(...args: Parameters<WorkerPool['parse']>): ReturnType<WorkerPool['parse']> {
		const [job, signal, options] = args;
		this.isolated.push(options?.isolated ?? false);
		await this.#parseLatch.wait(job, signal);
		this.parsed++;
		const failure = this.parseFailure(job);
		if (failure) throw failure;
		return this.#pool.parse(...args);
	}

	async train(...args: Parameters<WorkerPool['train']>): ReturnType<WorkerPool['train']> {
		const failure = this.trainFailure(args[0]);
		if (failure) throw failure;
		const trained = await this.#pool.train(...args);
		await this.trainLatch.wait(args[0], args[1]);
		return trained;
	}

	async search(...args: Parameters<WorkerPool['search']>): ReturnType<WorkerPool['search']> {
		await this.beforeSearch();
		return this.#pool.search(...args);
	}

	recognise: WorkerPool['recognise'] = (...args) => this.#pool.recognise(...args);

	warmUp(): void {
		this.#pool.warmUp();
	}

	async fold(...args: Parameters<WorkerPool['fold']>): ReturnType<WorkerPool['fold']> {
		const failure = this.foldFailure();
		if (failure) throw failure;
		return this.#pool.fold(...args);
	}

	check: WorkerPool['check'] = (job) => this.#pool.check(job);

	async [Symbol.asyncDispose](): Promise<void> {
		const real = this.#real;
		this.#real = undefined;
		await real?.[Symbol.asyncDispose]();
	}

	get #pool(): WorkerPool {
		this.#real ??= openSharedWorkerPool();
		return this.#real;
	}
}
