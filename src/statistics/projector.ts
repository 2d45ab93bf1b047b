import { type Log, messageOf, type ThrottledLog, withDeadline } from '../base/index.ts';
import type { Store } from '../store/index.ts';

export interface ProjectorOptions {
	store: Pick<Store, 'commit' | 'events' | 'onEvents' | 'statistics'>;
	/** Runs after events were counted. */
	onProgress: () => Promise<void>;
	log: Log;
	failures: ThrottledLog;
}

/** Events of one commit: other commits do not wait long for it. */
const BATCH_EVENTS = 1_000;
/** Events are counted this much later than they happen (ms), many in one commit. */
const DELAY_MS = 1_000;
/** The delay after a failure, for example of the disk. */
const RETRY_DELAY_MS = 10_000;
/** How long a reader waits for the figures of the last events. */
const READ_WAIT_MS = 2_000;

/**
 * Counts the events of the log after their commits:
 * 1. An event wakes it, a second later.
 * 2. The writer counts the next events and stores its position in the log, in one transaction: a crash counts nothing twice.
 * 3. This repeats until the position is that of the last event. At the start it continues where the last process ended.
 */
export class Projector implements AsyncDisposable {
	readonly #options: ProjectorOptions;
	#timer: NodeJS.Timeout | undefined;
	#run: Promise<void> | undefined;
	#unsubscribe: () => void = () => {};
	#isClosed = false;

	constructor(options: ProjectorOptions) {
		this.#options = options;
	}

	start(): void {
		this.#unsubscribe = this.#options.store.onEvents(() => this.#schedule(DELAY_MS));
		this.#schedule(0);
	}

	/** Waits until what is in the log now is counted. Returns false where that takes too long or fails. */
	async catchUp(): Promise<boolean> {
		const { store } = this.#options;
		const target = await store.events.lastSeq();
		const counted = (async () => {
			while (!this.#isClosed && (await store.statistics.position()) < target) await this.#runNow();
			// The run that counted them may still group questions.
			await this.#run;
			return true;
		})();
		return withDeadline(counted, READ_WAIT_MS, () => new Error('The figures are behind.')).catch(() => false);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		this.#unsubscribe();
		clearTimeout(this.#timer);
		await this.#run?.catch(() => {});
	}

	#schedule(delayMs: number): void {
		if (this.#timer !== undefined || this.#isClosed) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#runNow().catch((error: unknown) => {
				if (this.#isClosed) return;
				this.#options.failures.error(messageOf(error), { error: messageOf(error) }, 'events could not be counted');
				this.#schedule(RETRY_DELAY_MS);
			});
		}, delayMs);
		this.#timer.unref();
	}

	/** Counts to the end of the log, or joins the run that does. */
	#runNow(): Promise<void> {
		this.#run ??= this.#countAll().finally(() => {
			this.#run = undefined;
		});
		return this.#run;
	}

	async #countAll(): Promise<void> {
		const { store, onProgress } = this.#options;
		const target = await store.events.lastSeq();
		for (let position = await store.statistics.position(); position < target; ) {
			if (this.#isClosed) return;
			await store.commit({ write: [{ op: 'statistics.project', limit: BATCH_EVENTS }] });
			const next = await store.statistics.position();
			if (next === position) throw new Error('The writer has counted no event.');
			position = next;
		}
		await onProgress();
	}
}
