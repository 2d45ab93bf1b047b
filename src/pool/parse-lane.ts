import { AppError, type Log, messageOf, ReadWriteLock, ResourceShortage, Semaphore } from '../base/index.ts';
import type { ParsedDocument, ParseJob, WorkerAnswer } from '../contract/index.ts';
import { tooLarge, unread } from './failures.ts';
import type { PoolLimits } from './limits.ts';
import { ParseProcess, ParseProcessEnded } from './parse-process.ts';
import type { WorkerEntry } from './worker-entry.ts';

export interface ParseLaneOptions {
	threads: number;
	limits: PoolLimits;
	host: WorkerEntry;
	worker: WorkerEntry;
	log: Log;
}

/**
 * Parses documents in a process of their own, which is started for the first one and ended when there has been none for a while.
 *
 * Where the process ends in the middle of its work, the cause cannot be told from outside. So each document in it is parsed
 * once more with nothing beside it, in a fresh process. Only a document that ends that process too is given up.
 */
export class ParseLane implements AsyncDisposable {
	readonly #options: ParseLaneOptions;
	readonly #gate: Semaphore;
	/** Shared by documents that are parsed side by side; exclusive for a document that is parsed alone. */
	readonly #lock = new ReadWriteLock();
	#process: ParseProcess | undefined;
	#idle: NodeJS.Timeout | undefined;
	#inside = 0;
	#isClosed = false;

	constructor(options: ParseLaneOptions) {
		this.#options = options;
		this.#gate = new Semaphore(options.threads, options.limits.queue);
	}

	/**
	 * @param alone parse it with nothing beside it from the start: the server ended twice while it had this document in hand
	 * @throws AppError `resource_limit` where the document ends the process, `unreadable_file`, `unavailable`; the signal's reason
	 */
	async parse(job: ParseJob, signal: AbortSignal | undefined, alone: boolean): Promise<ParsedDocument> {
		let answer: WorkerAnswer<ParsedDocument>;
		try {
			answer = await this.#gate.run(() => this.#parse(job, signal, alone), signal);
		} catch (cause) {
			if (signal?.aborted) throw signal.reason;
			if (cause instanceof AppError) throw cause;
			throw unread(cause, this.#options.limits);
		}
		if (!answer.ok) throw new AppError(answer.error.code, answer.error.message);
		return answer.value;
	}

	/** Starts the process where there is none, because a document is about to come. Where it cannot be started, the document tells. */
	warmUp(): void {
		if (this.#isClosed || this.#process?.isUsable) return;
		try {
			this.#process = this.#start();
		} catch {
			// It is logged.
			return;
		}
		if (this.#inside === 0) this.#endWhenIdle();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#idle);
		this.#process?.close();
		await this.#process?.ended;
	}

	async #parse(job: ParseJob, signal: AbortSignal | undefined, alone: boolean): Promise<WorkerAnswer<ParsedDocument>> {
		if (!alone) {
			try {
				return await this.#lock.shared(() => this.#once(job, signal), signal);
			} catch (error) {
				if (!(error instanceof ParseProcessEnded)) throw error;
				if (error.end.cause === 'start') throw notStarted(error);
			}
		}
		return this.#lock.exclusive(async () => {
			// What earlier documents have left in its memory must not be held against this one.
			if (this.#process?.isUsable && !this.#process.isFresh) {
				this.#process.close();
				await this.#process.ended;
			}
			try {
				return await this.#once(job, signal);
			} catch (error) {
				if (!(error instanceof ParseProcessEnded)) throw error;
				const { cause } = error.end;
				throw cause === 'crash' || cause === 'memory' ? tooLarge(error) : notStarted(error);
			}
		}, signal);
	}

	async #once(job: ParseJob, signal: AbortSignal | undefined): Promise<WorkerAnswer<ParsedDocument>> {
		const host = this.#running();
		const late = AbortSignal.timeout(this.#options.limits.parseMs);
		this.#inside++;
		clearTimeout(this.#idle);
		try {
			return await host.parse(job, signal ? AbortSignal.any([signal, late]) : late);
		} finally {
			if (--this.#inside === 0) this.#endWhenIdle();
		}
	}

	#running(): ParseProcess {
		if (this.#isClosed) throw new AppError('unavailable', 'The server is stopping.', { retry_after: 1 });
		if (!this.#process?.isUsable) this.#process = this.#start();
		return this.#process;
	}

	#start(): ParseProcess {
		const { host: script, worker, threads, limits, log } = this.#options;
		const { heapMb, parseCpuMs: cpuMs, parseRssMb: rssMb } = limits;
		let host: ParseProcess;
		try {
			host = new ParseProcess({ host: script, worker, threads, heapMb, cpuMs, rssMb });
		} catch (cause) {
			log.error({ error: messageOf(cause) }, 'the process that parses documents could not be started');
			throw notStarted(cause);
		}
		void host.ended.then((end) => {
			if (end.cause !== 'closed') log.warn({ ...end, pid: host.pid }, 'the process that parses documents has ended');
		});
		return host;
	}

	#endWhenIdle(): void {
		clearTimeout(this.#idle);
		this.#idle = setTimeout(() => this.#process?.close(), this.#options.limits.parseIdleMs).unref();
	}
}

/** A process that cannot be started, or cannot start its threads, says nothing of the document. */
function notStarted(cause: unknown): ResourceShortage {
	return new ResourceShortage('The server could not start the process that reads files.', cause);
}
