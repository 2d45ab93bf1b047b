import { type Log, messageOf } from '../base/index.ts';

/** Why writes fail. */
export type WriteProblemReason = keyof typeof SENTENCES;

/** Writes fail, with the reason. */
export interface WriteProblem {
	reason: WriteProblemReason;
	/** A sentence for people. It names no path. */
	message: string;
}

interface WriteHealthOptions {
	log: Log;
	/** Writes something and syncs it; rejects when that fails. Called while writes fail, one call at a time. */
	probe(): Promise<void>;
	/** Milliseconds from one probe to the next. */
	probeMs?: number;
	/** Milliseconds from one line about a lasting problem to the next. */
	repeatMs?: number;
}

const SENTENCES = {
	disk_full: 'The disk is full: nothing can be stored.',
	disk_error: 'The disk reports errors: nothing can be stored.',
	disk_stalled: 'The disk does not answer: nothing can be stored.',
	database_damaged: 'The database is damaged: nothing can be stored.',
	database_read_only: 'The database may not be written to: nothing can be stored.',
	database_busy: 'Another program holds the database: nothing can be stored.',
	database_gone: 'The database file was moved, deleted or replaced: nothing can be stored.',
	database_taken_over: 'Another Parley has taken over the database: nothing can be stored.',
	writer_ended: 'The thread that writes has ended: nothing can be stored.',
} as const;

/** Codes of this store, in addition to those of SQLite and of the operating system. */
export const GONE_CODE = 'DATABASE_GONE';
export const TAKEN_OVER_CODE = 'DATABASE_TAKEN_OVER';
export const STALLED_CODE = 'WRITES_STALLED';
export const ENDED_CODE = 'WRITER_ENDED';

/** The first pattern that matches the code decides. A code without a match belongs to the write that failed, not to the disk. */
const REASONS: ReadonlyArray<readonly [RegExp, WriteProblemReason]> = [
	[/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'disk_full'],
	[/^(SQLITE_CORRUPT|SQLITE_NOTADB)/, 'database_damaged'],
	[/^(SQLITE_READONLY|SQLITE_PERM|EROFS|EACCES|EPERM)/, 'database_read_only'],
	[/^(SQLITE_BUSY|SQLITE_LOCKED)/, 'database_busy'],
	[/^(SQLITE_IOERR|SQLITE_CANTOPEN|SQLITE_PROTOCOL|SQLITE_NOMEM|EIO|EMFILE|ENFILE|ENODEV|ESTALE)/, 'disk_error'],
	[/^DATABASE_GONE$/, 'database_gone'],
	[/^DATABASE_TAKEN_OVER$/, 'database_taken_over'],
	[/^WRITES_STALLED$/, 'disk_stalled'],
	[/^WRITER_ENDED$/, 'writer_ended'],
];

const PROBE_MS = 3_000;
/** The interval doubles up to this when a disk fails again soon after it recovered. */
const MAX_PROBE_MS = 30_000;
const REPEAT_MS = 60_000;

/**
 * Tracks whether writes succeed. While they fail, it probes with a write every few seconds, because a server that is not
 * ready gets no requests that would show the recovery. It logs each change, and a lasting problem once a minute.
 */
export class WriteHealth implements Disposable {
	readonly #options: WriteHealthOptions;
	readonly #repeatMs: number;
	#problem: { reason: WriteProblemReason; code: string; cause: string; since: number } | null = null;
	#timer: NodeJS.Timeout | undefined;
	#probing = false;
	#probeMs: number;
	#recoveredAt = Number.NEGATIVE_INFINITY;
	#loggedAt = Number.NEGATIVE_INFINITY;
	/** When a file that could not be written was last logged. */
	#fileLoggedAt = Number.NEGATIVE_INFINITY;
	/** Writes that have failed since the last log line. */
	#failures = 0;
	#disposed = false;

	constructor(options: WriteHealthOptions) {
		this.#options = options;
		this.#probeMs = options.probeMs ?? PROBE_MS;
		this.#repeatMs = options.repeatMs ?? REPEAT_MS;
	}

	/** Null while writes succeed. */
	get problem(): WriteProblem | null {
		if (this.#problem === null) return null;
		const { reason } = this.#problem;
		return { reason, message: SENTENCES[reason] };
	}

	/** Records a failed write. A code that belongs to that write alone, such as a violated constraint, changes nothing. */
	recordFailure(code: string | undefined, cause: string): void {
		const reason = reasonOf(code);
		if (reason === null || code === undefined || this.#disposed) return;
		this.#failures++;
		const isChange = this.#problem?.reason !== reason;
		if (this.#problem === null) this.#startProbing();
		if (isChange) this.#problem = { reason, code, cause, since: this.#problem?.since ?? performance.now() };
		if (isChange || performance.now() - this.#loggedAt >= this.#repeatMs) this.#logProblem(isChange);
	}

	/** Records a file that could not be written. It may have been too large for the free space: a probe shows whether anything fits. */
	recordFileFailure(error: unknown): void {
		const code = (error as NodeJS.ErrnoException | null)?.code;
		if (reasonOf(code) === null || this.#disposed) return;
		if (performance.now() - this.#fileLoggedAt >= this.#repeatMs) {
			this.#fileLoggedAt = performance.now();
			this.#options.log.error({ code, cause: messageOf(error) }, 'an uploaded file could not be written');
		}
		if (this.#problem === null) void this.#probe();
	}

	/** Records that a stalled writer answers again. */
	recordProgress(): void {
		if (this.#problem?.reason === 'disk_stalled') this.#recover();
	}

	[Symbol.dispose](): void {
		this.#disposed = true;
		clearInterval(this.#timer);
	}

	#startProbing(): void {
		// Doubled when the last recovery did not last, otherwise reset.
		const recoveredRecently = performance.now() - this.#recoveredAt < this.#repeatMs;
		this.#probeMs = recoveredRecently ? Math.min(this.#probeMs * 2, MAX_PROBE_MS) : (this.#options.probeMs ?? PROBE_MS);
		this.#timer = setInterval(() => {
			// A probe that hangs is visible only here.
			if (this.#probing && performance.now() - this.#loggedAt >= this.#repeatMs) this.#logProblem(false);
			void this.#probe();
		}, this.#probeMs);
		this.#timer.unref();
	}

	async #probe(): Promise<void> {
		if (this.#probing || this.#disposed) return;
		this.#probing = true;
		try {
			await this.#options.probe();
			if (this.#problem !== null && !this.#disposed) this.#recover();
		} catch (error) {
			const { cause } = error as Error;
			const origin = cause instanceof Error ? cause : error;
			this.recordFailure((origin as NodeJS.ErrnoException).code, messageOf(origin));
		} finally {
			this.#probing = false;
		}
	}

	#recover(): void {
		if (this.#problem === null) return;
		const { reason, since } = this.#problem;
		clearInterval(this.#timer);
		this.#problem = null;
		this.#failures = 0;
		this.#recoveredAt = performance.now();
		this.#options.log.warn({ reason, seconds: secondsSince(since) }, 'writes succeed again');
	}

	#logProblem(isChange: boolean): void {
		if (this.#problem === null) return;
		const { reason, code, cause, since } = this.#problem;
		const facts = { reason, code, cause, failures: this.#failures, seconds: secondsSince(since) };
		this.#options.log.error(facts, isChange ? `writes fail: ${SENTENCES[reason]}` : 'writes still fail');
		this.#failures = 0;
		this.#loggedAt = performance.now();
	}
}

function reasonOf(code: string | undefined): WriteProblemReason | null {
	if (code === undefined) return null;
	return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

function secondsSince(moment: number): number {
	return Math.round((performance.now() - moment) / 1_000);
}
