import { type ClockJumpDetector, type Log, messageOf, PeriodicTask } from '../base/index.ts';
import { newestDatabaseCopy, removeDatabaseCopies } from './sqlite/index.ts';

const CHECK_MS = 3_600_000;
/** Time to notice that an upgrade or a repair was wrong. A copy has data that was erased since. */
const KEPT_MS = 7 * 24 * 3_600_000;

export interface DatabaseCopiesOptions {
	dataDir: string;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
}

/** Deletes copies of the database from before an upgrade, and of damaged logs, after seven days. While the clock is suspect it deletes nothing. */
export class DatabaseCopies implements AsyncDisposable {
	readonly #task: PeriodicTask;
	readonly #dataDir: string;

	constructor({ dataDir, jumpDetector, log }: DatabaseCopiesOptions) {
		this.#dataDir = dataDir;
		this.#task = new PeriodicTask({
			intervalMs: CHECK_MS,
			async run() {
				const now = jumpDetector.trustedNow();
				const names = now === null ? [] : await removeDatabaseCopies(dataDir, now - KEPT_MS);
				if (names.length > 0) log.info({ names }, 'copies of the database or its log were deleted after seven days');
			},
			onFailure: (error) =>
				log.warn({ error: messageOf(error) }, 'copies of the database or its log could not be deleted'),
		});
	}

	start(): void {
		this.#task.start();
	}

	/** Deletes what is due now. */
	run(): Promise<void> {
		return this.#task.run();
	}

	/** When the newest copy is due (ms since the epoch); null where there is none. */
	async goneAt(): Promise<number | null> {
		const madeAt = await newestDatabaseCopy(this.#dataDir);
		return madeAt === null ? null : madeAt + KEPT_MS + CHECK_MS;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#task[Symbol.asyncDispose]();
	}
}
