import { type Log, messageOf, sleep, type ThrottledLog, withDeadline } from '../base/index.ts';
import { type FenceOf, fenceOfTask, type ShardFence, type Store } from '../store/index.ts';

export interface ProjectorOptions {
	store: Pick<Store, 'commit' | 'events' | 'onEvents' | 'statistics'>;
	/** Runs after events were counted; in a cluster only on the node whose task it is. */
	onProgress: (fence: ShardFence | undefined) => Promise<void>;
	log: Log;
	failures: ThrottledLog;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

/** Events of one commit: other commits do not wait long for it. */
const BATCH_EVENTS = 1_000;
/** Events are counted this much later than they happen (ms), many in one commit. */
const DELAY_MS = 1_000;
/** The delay after a failure, for example of the disk. */
const RETRY_DELAY_MS = 10_000;
/** How long a reader waits for the figures of the last events. */
const READ_WAIT_MS = 2_000;
/** In a cluster: between two looks whether this node has got the task (ms), and whether the node that has it has grouped questions. */
const TAKEOVER_CHECK_MS = 5_000;
const GROUPING_CHECK_MS = 100;

/**
 * Counts the events of the log after their commits:
 * 1. An event wakes it, a second later.
 * 2. The writer counts the next events and stores its position in the log, in one transaction: a crash counts nothing twice.
 * 3. This repeats until the position is that of the last event. At the start it continues where the last process ended.
 *
 * In a cluster one node does this, and any node for a reader that waits: the store counts nothing twice.
 */
export class Projector implements AsyncDisposable {
	readonly #options: ProjectorOptions;
	#timer: NodeJS.Timeout | undefined;
	#run: Promise<void> | undefined;
	#unsubscribe: () => void = () => {};
	#takeoverCheck: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: ProjectorOptions) {
		this.#options = options;
	}

	start(): void {
		this.#unsubscribe = this.#options.store.onEvents(() => this.#schedule(DELAY_MS));
		this.#schedule(0);
		if (this.#options.fenceOf === undefined) return;
		this.#takeoverCheck = setInterval(() => this.#schedule(0), TAKEOVER_CHECK_MS);
		this.#takeoverCheck.unref();
	}

	/**
	 * Waits until what is in the log now is counted. Returns false where that takes too long or fails.
	 * @param grouped also until the questions without an answer are in groups
	 */
	async catchUp({ grouped = false } = {}): Promise<boolean> {
		const { store } = this.#options;
		const deadline = AbortSignal.timeout(READ_WAIT_MS);
		const target = await store.events.lastSeq();
		const counted = (async () => {
			while (!this.#isClosed && (await store.statistics.position()) < target) await this.#runNow();
			// The run that counted them may still group questions.
			await this.#run;
			while (grouped && this.#fence === null && (await store.statistics.ungrouped(1)).length > 0) {
				if (deadline.aborted || this.#isClosed) return false;
				await sleep(GROUPING_CHECK_MS, deadline);
			}
			return true;
		})();
		return withDeadline(counted, READ_WAIT_MS, () => new Error('The figures are behind.')).catch(() => false);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		this.#unsubscribe();
		clearTimeout(this.#timer);
		clearInterval(this.#takeoverCheck);
		await this.#run?.catch(() => {});
	}

	#schedule(delayMs: number): void {
		if (this.#timer !== undefined || this.#isClosed) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			if (this.#fence === null) return;
			this.#runNow().catch((error: unknown) => {
				if (this.#isClosed) return;
				this.#options.failures.error(messageOf(error), { error: messageOf(error) }, 'events could not be counted');
				this.#schedule(RETRY_DELAY_MS);
			});
		}, delayMs);
		this.#timer.unref();
	}

	/** Null: the task is another node's. */
	get #fence(): ShardFence | null | undefined {
		return fenceOfTask(this.#options.fenceOf, 'statistics');
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
		const fence = this.#fence;
		if (fence !== null) await onProgress(fence);
	}
}
