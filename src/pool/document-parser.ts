import { AppError, anySignal, type Log, messageOf, ReadWriteLock, ResourceShortage, Semaphore } from '../base/index.ts';
import type { ParsedDocument, ParseJob, WorkerResult } from '../contract/index.ts';
import { documentTooLarge, parseFailure } from './failures.ts';
import type { WorkerPoolLimits } from './limits.ts';
import { ParseProcess, ParseProcessEnded } from './parse-process.ts';
import type { WorkerEntry } from './worker-entry.ts';

export interface DocumentParserOptions {
	threads: number;
	limits: WorkerPoolLimits;
	host: WorkerEntry;
	worker: WorkerEntry;
	log: Log;
	/** Called when a process has failed; the next document starts another one. */
	onRestart: () => void;
}

/**
 * Parses documents in a separate process. It starts for the first document and ends after a time without documents.
 *
 * When the process ends during its work, the server cannot know which document was the cause. So it parses each document that
 * was in the process once more, alone, in a new process. Only a document that ends that process too fails.
 */
export class DocumentParser implements AsyncDisposable {
	readonly #options: DocumentParserOptions;
	readonly #semaphore: Semaphore;
	/** Shared for documents that are parsed concurrently; exclusive for a document that is parsed alone. */
	readonly #lock = new ReadWriteLock();
	#process: ParseProcess | undefined;
	#idleTimer: NodeJS.Timeout | undefined;
	#active = 0;
	#isClosed = false;

	constructor(options: DocumentParserOptions) {
		this.#options = options;
		this.#semaphore = new Semaphore(options.threads, options.limits.maxQueued);
	}

	/**
	 * @param isolated parse it alone from the start, because the server ended twice while it processed this document
	 * @throws AppError `resource_limit` if the document ends the process, `unreadable_file`, `unavailable`; the signal's reason
	 */
	async parse(job: ParseJob, signal: AbortSignal | undefined, isolated: boolean): Promise<ParsedDocument> {
		let result: WorkerResult<ParsedDocument>;
		try {
			result = await this.#semaphore.run(() => this.#parse(job, signal, isolated), signal);
		} catch (cause) {
			if (signal?.aborted) throw signal.reason;
			if (cause instanceof AppError) throw cause;
			throw parseFailure(cause, this.#options.limits);
		}
		if (!result.ok) throw new AppError(result.error.code, result.error.message);
		return result.value;
	}

	/** Starts the process ahead of a document. If the start fails, the document reports the failure. */
	warmUp(): void {
		if (this.#isClosed || this.#process?.isUsable) return;
		try {
			this.#process = this.#start();
		} catch {
			// `#start` has logged it.
			return;
		}
		if (this.#active === 0) this.#endWhenIdle();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#idleTimer);
		this.#process?.close();
		await this.#process?.ended;
	}

	async #parse(
		job: ParseJob,
		signal: AbortSignal | undefined,
		isolated: boolean,
	): Promise<WorkerResult<ParsedDocument>> {
		if (!isolated) {
			try {
				return await this.#lock.shared(() => this.#parseOnce(job, signal), signal);
			} catch (error) {
				if (!(error instanceof ParseProcessEnded)) throw error;
				if (error.end.cause === 'start') throw startFailure(error);
			}
		}
		return this.#lock.exclusive(async () => {
			// Memory that earlier documents have left must not count against this one.
			if (this.#process?.isUsable && !this.#process.isFresh) {
				this.#process.close();
				await this.#process.ended;
			}
			try {
				return await this.#parseOnce(job, signal);
			} catch (error) {
				if (!(error instanceof ParseProcessEnded)) throw error;
				const { cause } = error.end;
				throw cause === 'crash' || cause === 'memory' ? documentTooLarge(error) : startFailure(error);
			}
		}, signal);
	}

	async #parseOnce(job: ParseJob, signal: AbortSignal | undefined): Promise<WorkerResult<ParsedDocument>> {
		const process = this.#ensureProcess();
		const timeout = AbortSignal.timeout(this.#options.limits.parseTimeoutMs);
		this.#active++;
		clearTimeout(this.#idleTimer);
		try {
			return await process.parse(job, anySignal(signal, timeout));
		} finally {
			if (--this.#active === 0) this.#endWhenIdle();
		}
	}

	#ensureProcess(): ParseProcess {
		if (this.#isClosed) throw new AppError('unavailable', 'The server is stopping.', { retry_after: 1 });
		if (!this.#process?.isUsable) this.#process = this.#start();
		return this.#process;
	}

	#start(): ParseProcess {
		const { host: script, worker, threads, limits, log, onRestart } = this.#options;
		const { heapMb, parseCpuMs: cpuMs, parseRssMb: rssMb } = limits;
		let process: ParseProcess;
		try {
			process = new ParseProcess({ host: script, worker, threads, heapMb, cpuMs, rssMb });
		} catch (cause) {
			log.error({ error: messageOf(cause) }, 'the process that parses documents could not be started');
			throw startFailure(cause);
		}
		void process.ended.then((end) => {
			if (end.cause === 'closed') return;
			log.warn({ ...end, pid: process.pid }, 'the process that parses documents has ended');
			onRestart();
		});
		return process;
	}

	#endWhenIdle(): void {
		clearTimeout(this.#idleTimer);
		this.#idleTimer = setTimeout(() => this.#process?.close(), this.#options.limits.parseIdleTimeoutMs).unref();
	}
}

/** The document is not the cause when the process, or its threads, cannot be started. */
function startFailure(cause: unknown): ResourceShortage {
	return new ResourceShortage('The server could not start the process that reads files.', cause);
}
