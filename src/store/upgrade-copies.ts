import { type ClockJumpDetector, type Log, messageOf, PeriodicTask } from '../base/index.ts';
import { newestUpgradeCopy, removeUpgradeCopies } from './sqlite/index.ts';

const CHECK_MS = 3_600_000;
/** Time to notice that an upgrade was wrong. A copy has data that was erased since. */
const KEPT_MS = 7 * 24 * 3_600_000;

export interface UpgradeCopiesOptions {
	dataDir: string;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
}

/** Deletes copies of the database from before an upgrade after seven days. While the clock is suspect it deletes nothing. */
export class UpgradeCopies implements AsyncDisposable {
	readonly #task: PeriodicTask;
	readonly #dataDir: string;

	constructor({ dataDir, jumpDetector, log }: UpgradeCopiesOptions) {
		this.#dataDir = dataDir;
		this.#task = new PeriodicTask({
			intervalMs: CHECK_MS,
			async run() {
				const now = jumpDetector.trustedNow();
				const names = now === null ? [] : await removeUpgradeCopies(dataDir, now - KEPT_MS);
				if (names.length > 0) log.info({ names }, 'copies of the database from before an upgrade were deleted');
			},
			onFailure: (error) => log.warn({ error: messageOf(error) }, 'copies from before an upgrade could not be deleted'),
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
		const madeAt = await newestUpgradeCopy(this.#dataDir);
		return madeAt === null ? null : madeAt + KEPT_MS + CHECK_MS;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#task[Symbol.asyncDispose]();
	}
}
