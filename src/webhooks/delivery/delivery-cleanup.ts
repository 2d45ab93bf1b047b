import { AppError, type Clock, type ClockJumpDetector, type Log, PeriodicTask } from '../../base/index.ts';
import {
	type Commit,
	expectVersion,
	type FenceOf,
	fenceOfTask,
	type Store,
	type WebhookRecord,
} from '../../store/index.ts';
import { DELIVERY_SCHEDULE } from './delivery-schedule.ts';

/** What the cleanup needs. */
interface DeliveryCleanupOptions {
	store: Pick<Store, 'commit' | 'deliveries' | 'events' | 'get'>;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Called when another owner has the store. */
	onFenced(): void;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

const CLEANUP_INTERVAL_MS = 60_000;
/** Rows per commit. It bounds how long other commits wait. */
const BATCH_SIZE = 500;
/** A request that enables an endpoint waits for at most this many batches. */
const MAX_CANCEL_BATCHES = 40;

/** Cancels deliveries of disabled endpoints, erases those of deleted ones, and erases events after 30 days; in batches. */
export class DeliveryCleanup implements AsyncDisposable {
	readonly #store: DeliveryCleanupOptions['store'];
	readonly #clock: Clock;
	readonly #jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	readonly #onFenced: () => void;
	readonly #fenceOf: FenceOf | undefined;
	readonly #periodicTask: PeriodicTask;

	constructor({ store, clock, jumpDetector, log, onFenced, fenceOf }: DeliveryCleanupOptions) {
		this.#fenceOf = fenceOf;
		this.#store = store;
		this.#clock = clock;
		this.#jumpDetector = jumpDetector;
		this.#onFenced = onFenced;
		this.#periodicTask = new PeriodicTask({
			intervalMs: CLEANUP_INTERVAL_MS,
			run: (signal) => this.#cleanUp(signal),
			onFailure: (error) => log.warn({ err: error }, 'deliveries and events could not be cleaned up'),
		});
	}

	start(): void {
		this.#periodicTask.start();
	}

	/** Runs until nothing is left to clean up. */
	run(): Promise<void> {
		return this.#periodicTask.run();
	}

	/** Starts no more runs. */
	stop(): void {
		this.#periodicTask.stop();
	}

	/**
	 * Cancels all pending deliveries of a disabled endpoint, which gets no new ones meanwhile. This happens before it is enabled,
	 * because afterwards old and new deliveries could not be told apart. Returns early when another request has changed the endpoint.
	 * @throws AppError `unavailable` when there are too many to wait for
	 */
	async cancelAll(endpoint: WebhookRecord): Promise<void> {
		for (let batch = 0; (await this.#store.deliveries.nextDueAfter(endpoint.id, -1)) !== null; batch++) {
			if (batch === MAX_CANCEL_BATCHES) throw stillCancelling();
			const { outcome } = await this.#store.commit(this.#cancelCommit(endpoint));
			if (outcome !== 'committed') return;
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#periodicTask[Symbol.asyncDispose]();
	}

	async #cleanUp(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			const commit = (await this.#endpointCommit()) ?? (await this.#expiredEventsCommit());
			if (commit === null) return;
			const { outcome } = await this.#store.commit(commit);
			if (outcome === 'fenced') return this.#onFenced();
		}
	}

	/** A batch of the deliveries of disabled or deleted endpoints. */
	async #endpointCommit(): Promise<Commit | null> {
		const { disabled, deleted } = await this.#store.deliveries.webhooksNeedingCleanup();
		for (const id of disabled) {
			const endpoint = await this.#store.get('webhooks', id);
			if (endpoint?.status === 'disabled') return this.#cancelCommit(endpoint);
		}
		const [webhook_id] = deleted;
		return webhook_id === undefined ? null : { write: [{ op: 'erase_deliveries', webhook_id, limit: BATCH_SIZE }] };
	}

	/** A batch of the expired events. In a cluster one node erases them. */
	async #expiredEventsCommit(): Promise<Commit | null> {
		if (fenceOfTask(this.#fenceOf, 'deliveries') === null) return null;
		const now = this.#jumpDetector.trustedNow();
		if (now === null) return null;
		const before = now - DELIVERY_SCHEDULE.eventRetention;
		if (!(await this.#store.events.hasExpired(before))) return null;
		return { write: [{ op: 'erase_events', before, limit: BATCH_SIZE }] };
	}

	/** Expects the endpoint's version: deliveries after it was enabled again are not cancelled. */
	#cancelCommit(endpoint: WebhookRecord): Commit {
		const at = this.#clock.now();
		return {
			expect: [expectVersion('webhooks', endpoint)],
			write: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at, limit: BATCH_SIZE }],
		};
	}
}

function stillCancelling(): AppError {
	const message =
		'The deliveries that were pending when the endpoint was disabled are still being cancelled. Try again soon.';
	return new AppError('unavailable', message, { retry_after: 1 });
}
