import { AppError, type Clock, type ClockJumpDetector, type Log, PeriodicTask } from '../../base/index.ts';
import { type Commit, expectVersion, type Store, type WebhookRecord } from '../../store/index.ts';
import { DELIVERY_SCHEDULE } from './delivery-schedule.ts';

export interface DeliveryCleanupOptions {
	store: Pick<Store, 'commit' | 'deliveries' | 'events' | 'get'>;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Is told that another owner has the store, and tidies it. */
	onFenced(): void;
}

const CLEANUP_INTERVAL_MS = 60_000;
/** In one commit: others that wait for the disk do not wait for long. */
const BATCH_SIZE = 500;
/** Who revives an endpoint waits for so many portions of what is left there, and no longer. */
const MAX_CANCEL_BATCHES = 40;

/** Ends the deliveries of disabled endpoints, erases those of deleted ones, and forgets events after 30 days; in portions. */
export class DeliveryCleanup implements AsyncDisposable {
	readonly #store: DeliveryCleanupOptions['store'];
	readonly #clock: Clock;
	readonly #jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	readonly #onFenced: () => void;
	readonly #periodicTask: PeriodicTask;

	constructor({ store, clock, jumpDetector, log, onFenced }: DeliveryCleanupOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#jumpDetector = jumpDetector;
		this.#onFenced = onFenced;
		this.#periodicTask = new PeriodicTask({
			intervalMs: CLEANUP_INTERVAL_MS,
			run: (signal) => this.#cleanUp(signal),
			onFailure: (error) => log.warn({ err: error }, 'deliveries and events could not be tidied up'),
		});
	}

	start(): void {
		this.#periodicTask.start();
	}

	/** Does all there is to do now. */
	run(): Promise<void> {
		return this.#periodicTask.run();
	}

	/** Begins nothing any more. */
	stop(): void {
		this.#periodicTask.stop();
	}

	/**
	 * Ends what waits at an endpoint that is disabled; nothing is added meanwhile. Before it is revived: afterwards nobody could
	 * tell what has waited since from what is new. Returns early where somebody else has changed the endpoint.
	 * @throws AppError `unavailable` where it is too much to wait for
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

	/** A portion of what is left of endpoints that are disabled or gone. */
	async #endpointCommit(): Promise<Commit | null> {
		const { disabled, deleted } = await this.#store.deliveries.webhooksNeedingCleanup();
		for (const id of disabled) {
			const endpoint = await this.#store.get('webhooks', id);
			if (endpoint?.status === 'disabled') return this.#cancelCommit(endpoint);
		}
		const [webhook_id] = deleted;
		return webhook_id === undefined ? null : { write: [{ op: 'erase_deliveries', webhook_id, limit: BATCH_SIZE }] };
	}

	/** A portion of the events whose time is over. */
	async #expiredEventsCommit(): Promise<Commit | null> {
		const now = this.#jumpDetector.trustedNow();
		if (now === null) return null;
		const before = now - DELIVERY_SCHEDULE.eventRetention;
		if (!(await this.#store.events.hasExpired(before))) return null;
		return { write: [{ op: 'erase_events', before, limit: BATCH_SIZE }] };
	}

	/** Only while it is as it was found: what comes after it was revived is not cancelled. */
	#cancelCommit(endpoint: WebhookRecord): Commit {
		const at = this.#clock.now();
		return {
			expect: [expectVersion('webhooks', endpoint)],
			write: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at, limit: BATCH_SIZE }],
		};
	}
}

function stillCancelling(): AppError {
	const message = 'What waited when the endpoint was disabled is still being cancelled. Try again soon.';
	return new AppError('unavailable', message, { retry_after: 1 });
}
