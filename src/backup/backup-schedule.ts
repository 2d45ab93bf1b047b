import {
	anySignal,
	type Clock,
	type Log,
	messageOf,
	PeriodicTask,
	rejectOnAbort,
	withDeadline,
} from '../base/index.ts';
import { type BackupFile, listBackups } from './backup-files.ts';

export interface BackupScheduleOptions {
	/** The folder of the backups. */
	folder: string;
	/** Backups of other series in the folder do not count. */
	series: string;
	/** Milliseconds from one backup to the next. */
	everyMs: number;
	/** Makes a backup in the folder and deletes old ones. Resolves with what it printed. */
	makeBackup(signal: AbortSignal): Promise<string>;
	clock: Clock;
	log: Log;
	/** Milliseconds between two checks whether a backup is due. */
	checkMs?: number;
	/** Milliseconds after a failure. */
	retryMs?: number;
	/** Milliseconds that a backup may take. */
	maxBackupMs?: number;
	/** Milliseconds that reading the folder may take. */
	listTimeoutMs?: number;
	/** Reads the folder. */
	list?: typeof listBackups;
}

const CHECK_MS = 60_000;
const RETRY_MS = 10 * 60_000;
/** A backup that takes longer is stopped: meanwhile the WAL grows, and no uploaded file is removed. */
const MAX_BACKUP_MS = 6 * 3_600_000;
const LIST_TIMEOUT_MS = 30_000;

/**
 * Makes backups at an interval from the newest backup that exists, also after a restart. The folder is the only state: a backup that
 * somebody made by hand counts, and the deletion of the newest makes one due.
 */
export class BackupSchedule implements AsyncDisposable {
	readonly #options: BackupScheduleOptions;
	readonly #task: PeriodicTask;
	/** In monotonic time. */
	#notBefore = Number.NEGATIVE_INFINITY;
	#listing: Promise<BackupFile[]> | null = null;

	constructor(options: BackupScheduleOptions) {
		this.#options = options;
		this.#task = new PeriodicTask({
			intervalMs: options.checkMs ?? CHECK_MS,
			run: (signal) => this.#makeDueBackup(signal),
			onFailure: (error) => this.#postpone(error),
		});
	}

	start(): void {
		this.#task.start();
	}

	/** Seconds from one backup to the next. */
	get everySeconds(): number {
		return this.#options.everyMs / 1_000;
	}

	/** When the newest backup was made (ms since the epoch); null for none. It waits for as long as the folder does not answer. */
	async newestMadeAt(): Promise<number | null> {
		const { clock } = this.#options;
		const now = clock.now();
		// A backup from the future was made by a clock that was wrong.
		return (await this.#list()).find(({ madeAt }) => madeAt <= now)?.madeAt ?? null;
	}

	/** Stops a running backup, which removes its unfinished files. Does not wait for the folder to answer. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.#task[Symbol.asyncDispose]();
	}

	async #makeDueBackup(signal: AbortSignal): Promise<void> {
		const { folder, makeBackup, log, maxBackupMs = MAX_BACKUP_MS } = this.#options;
		if (performance.now() < this.#notBefore || !(await this.#isDue(signal))) return;
		const started = performance.now();
		const result = await makeBackup(anySignal(signal, AbortSignal.timeout(maxBackupMs)));
		// A reading that runs since before the backup may lack it.
		this.#listing = null;
		log.info({ folder, result, seconds: Math.round((performance.now() - started) / 1_000) }, 'a backup was made');
	}

	/** One reading serves all that ask: each would hold a thread of the process while a network folder does not answer. */
	#list(): Promise<BackupFile[]> {
		if (this.#listing !== null) return this.#listing;
		const { folder, series, list = listBackups } = this.#options;
		const listing = list(folder, series).finally(() => {
			if (this.#listing === listing) this.#listing = null;
		});
		this.#listing = listing;
		return listing;
	}

	async #isDue(signal: AbortSignal): Promise<boolean> {
		const { folder, listTimeoutMs = LIST_TIMEOUT_MS } = this.#options;
		const answered = withDeadline(this.newestMadeAt(), listTimeoutMs, () => new Error(`${folder} does not answer.`));
		const newest = await rejectOnAbort(answered, signal);
		return newest === null || this.#options.clock.now() - newest >= this.#options.everyMs;
	}

	#postpone(error: unknown): void {
		const { folder, everyMs, log, retryMs = RETRY_MS } = this.#options;
		const delayMs = Math.min(retryMs, everyMs);
		this.#notBefore = performance.now() + delayMs;
		const facts = { folder, error: messageOf(error), retry_seconds: Math.round(delayMs / 1_000) };
		log.error(facts, 'a backup has failed');
	}
}
