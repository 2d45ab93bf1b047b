import { anySignal, deferred, type Log, rejectOnAbort, sleep } from '../base/index.ts';
import { type FenceOf, fenceOfTask, type Store } from '../store/index.ts';

/** Events of one commit. It bounds for how long other commits wait. */
const BATCH_EVENTS = 128;
/** Changes within this time share a commit, unless a reader waits for them. */
const COALESCING_MS = 150;
/** While many events arrive, it works at most a twentieth of the time, so that it delays no message. It catches up afterwards. */
const BUSY_PAUSE_FACTOR = 19;
const RETRY_MS = 5_000;
/** In a cluster: between two looks whether this node has got the task (ms). */
const TAKEOVER_CHECK_MS = 5_000;

export interface InboxProjectorOptions {
	store: Pick<Store, 'commit' | 'onEvents' | 'events' | 'inbox'>;
	log: Log;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

/**
 * Derives the inbox and the index of messages from the event log, after the commits and apart from them. The position in the log is
 * stored with the derived rows, so that nothing is missed or done twice after a crash.
 *
 * In a cluster one node does this, and any node for a reader that waits: the store derives nothing twice.
 */
export class InboxProjector implements AsyncDisposable {
	readonly #store: InboxProjectorOptions['store'];
	readonly #log: Log;
	readonly #fenceOf: FenceOf | undefined;
	readonly #abort = new AbortController();
	/** Resolves when events have arrived. */
	#arrival = deferred<void>();
	/** Resolves when a reader waits. */
	#demand = deferred<void>();
	#isDemanded = false;
	#takeoverCheck: NodeJS.Timeout | undefined;
	#arrived = 0;
	#batchEnd = deferred<void>();
	#running: Promise<void> | undefined;
	#unsubscribe: () => void = () => {};

	constructor({ store, log, fenceOf }: InboxProjectorOptions) {
		this.#store = store;
		this.#log = log;
		this.#fenceOf = fenceOf;
	}

	start(): void {
		this.#unsubscribe = this.#store.onEvents((events) => {
			this.#arrived += events.length;
			this.#arrival.resolve();
		});
		this.#arrival.resolve();
		this.#running = this.#run();
		if (this.#fenceOf === undefined) return;
		this.#takeoverCheck = setInterval(() => this.#arrival.resolve(), TAKEOVER_CHECK_MS);
		this.#takeoverCheck.unref();
	}

	/** Waits until what was committed before the call is in the inbox, at most `ms` milliseconds. */
	async reach(ms: number): Promise<void> {
		const target = await this.#store.events.lastSeq();
		const deadline = AbortSignal.timeout(ms);
		while (!deadline.aborted) {
			// Taken before the position is read: a batch that ends meanwhile is noticed.
			const batchEnd = this.#batchEnd.promise;
			if ((await this.#store.inbox.progress()).seq >= target) return;
			this.#isDemanded = true;
			this.#demand.resolve();
			// Other nodes' events of conversations do not arrive here.
			if (this.#fenceOf !== undefined) this.#arrival.resolve();
			await rejectOnAbort(batchEnd, deadline).catch(() => {});
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#unsubscribe();
		clearInterval(this.#takeoverCheck);
		this.#abort.abort(new Error('The server is stopping.'));
		await this.#running;
	}

	async #run(): Promise<void> {
		const { signal } = this.#abort;
		while (!signal.aborted) {
			try {
				await rejectOnAbort(this.#arrival.promise, signal);
				await this.#pause(COALESCING_MS);
				this.#arrival = deferred();
				// Another node does it, unless a reader waits here.
				const isDemanded = this.#isDemanded;
				this.#isDemanded = false;
				if (isDemanded || this.#isResponsible) await this.#catchUp(signal);
				// Another node may have done it.
				this.#endBatch();
			} catch (error) {
				if (signal.aborted) return;
				this.#log.warn({ err: error }, 'the inbox could not be brought up to date');
				this.#arrival.resolve();
				await sleep(RETRY_MS, signal);
			}
		}
	}

	async #catchUp(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			const target = await this.#store.events.lastSeq();
			const { seq, isFilled } = await this.#store.inbox.progress();
			if (seq >= target && (isFilled || !this.#isResponsible)) return;
			const started = performance.now();
			this.#arrived = 0;
			const { outcome } = await this.#store.commit({ write: [{ op: 'inbox.project', limit: BATCH_EVENTS }] });
			this.#endBatch();
			// Another process owns the store and its inbox.
			if (outcome !== 'committed') return;
			const took = performance.now() - started;
			await this.#pause(this.#arrived > 0 ? took * BUSY_PAUSE_FACTOR : took);
		}
	}

	get #isResponsible(): boolean {
		return fenceOfTask(this.#fenceOf, 'inbox') !== null;
	}

	#endBatch(): void {
		this.#batchEnd.resolve();
		this.#batchEnd = deferred();
	}

	/** Waits, but not while a reader waits. */
	async #pause(ms: number): Promise<void> {
		const reader = new AbortController();
		void this.#demand.promise.then(() => reader.abort());
		await sleep(ms, anySignal(reader.signal, this.#abort.signal));
		this.#demand = deferred();
	}
}
