import { anySignal, type Clock, type Log, messageOf, PeriodicTask } from '../base/index.ts';
import { listBackups } from './backup-files.ts';

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
}

const CHECK_MS = 60_000;
const RETRY_MS = 10 * 60_000;
/** A backup that takes longer is stopped: meanwhile the WAL grows, and no uploaded file is removed. */
const MAX_BACKUP_MS = 6 * 3_600_000;

/**
 * Makes backups at an interval from the newest backup that exists, also after a restart. The folder is the only state: a backup that
 * somebody made by hand counts, and the deletion of the newest makes one due.
 */
export class BackupSchedule implements AsyncDisposable {
	readonly #options: BackupScheduleOptions;
	readonly #task: PeriodicTask;
	/** In monotonic time. */
	#notBefore = Number.NEGATIVE_INFINITY;

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

	/** When the newest backup was made (ms since the epoch); null for none. */
	async newestMadeAt(): Promise<number | null> {
		const { folder, series, clock } = this.#options;
		const now = clock.now();
		// A backup from the future was made by a clock that was wrong.
		return (await listBackups(folder, series)).find(({ madeAt }) => madeAt <= now)?.madeAt ?? null;
	}

	/** Stops a running backup, which removes its unfinished files. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.#task[Symbol.asyncDispose]();
	}

	async #makeDueBackup(signal: AbortSignal): Promise<void> {
		const { folder, makeBackup, log, maxBackupMs = MAX_BACKUP_MS } = this.#options;
		if (performance.now() < this.#notBefore || !(await this.#isDue())) return;
		const started = performance.now();
		const result = await makeBackup(anySignal(signal, AbortSignal.timeout(maxBackupMs)));
		log.info({ folder, result, seconds: Math.round((performance.now() - started) / 1_000) }, 'a backup was made');
	}

	async #isDue(): Promise<boolean> {
		const newest = await this.newestMadeAt();
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
