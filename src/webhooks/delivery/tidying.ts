import { AppError, type Clock, type ClockJumpDetector, type Log, PeriodicTask } from '../../base/index.ts';
import { type Commit, expectVersion, type Store, type WebhookRecord } from '../../store/index.ts';
import { SCHEDULE } from './schedule.ts';

export interface TidyingOptions {
	store: Pick<Store, 'commit' | 'get' | 'hasExpiredEvents' | 'nextDueAfter' | 'webhooksNeedingCleanup'>;
	clock: Clock;
	watch: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Is told that another owner has the store, and tidies it. */
	onFenced(): void;
}

const EVERY_MS = 60_000;
/** In one commit: others that wait for the disk do not wait for long. */
const PORTION = 500;
/** Who revives an endpoint waits for so many portions of what is left there, and no longer. */
const PATIENCE = 40;

/** Ends the deliveries of disabled endpoints, erases those of deleted ones, and forgets events after 30 days; in portions. */
export class Tidying implements AsyncDisposable {
	readonly #store: TidyingOptions['store'];
	readonly #clock: Clock;
	readonly #watch: Pick<ClockJumpDetector, 'trustedNow'>;
	readonly #onFenced: () => void;
	readonly #rounds: PeriodicTask;

	constructor({ store, clock, watch, log, onFenced }: TidyingOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#watch = watch;
		this.#onFenced = onFenced;
		this.#rounds = new PeriodicTask({
			intervalMs: EVERY_MS,
			run: (signal) => this.#tidy(signal),
			onFailure: (error) => log.warn({ err: error }, 'deliveries and events could not be tidied up'),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** Does all there is to do now. */
	run(): Promise<void> {
		return this.#rounds.run();
	}

	/** Begins nothing any more. */
	stop(): void {
		this.#rounds.stop();
	}

	/**
	 * Ends what waits at an endpoint that is disabled; nothing is added meanwhile. Before it is revived: afterwards nobody could
	 * tell what has waited since from what is new. Returns early where somebody else has changed the endpoint.
	 * @throws AppError `unavailable` where it is too much to wait for
	 */
	async cancelAll(endpoint: WebhookRecord): Promise<void> {
		for (let portion = 0; (await this.#store.nextDueAfter(endpoint.id, -1)) !== null; portion++) {
			if (portion === PATIENCE) throw stillCancelling();
			const { outcome } = await this.#store.commit(this.#cancelling(endpoint));
			if (outcome !== 'committed') return;
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#rounds[Symbol.asyncDispose]();
	}

	async #tidy(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			const commit = (await this.#endpoints()) ?? (await this.#events());
			if (commit === null) return;
			const { outcome } = await this.#store.commit(commit);
			if (outcome === 'fenced') return this.#onFenced();
		}
	}

	/** A portion of what is left of endpoints that are disabled or gone. */
	async #endpoints(): Promise<Commit | null> {
		const { disabled, deleted } = await this.#store.webhooksNeedingCleanup();
		for (const id of disabled) {
			const endpoint = await this.#store.get('webhooks', id);
			if (endpoint?.status === 'disabled') return this.#cancelling(endpoint);
		}
		const [webhook_id] = deleted;
		return webhook_id === undefined ? null : { write: [{ op: 'erase_deliveries', webhook_id, limit: PORTION }] };
	}

	/** A portion of the events whose time is over. */
	async #events(): Promise<Commit | null> {
		const now = this.#watch.trustedNow();
		if (now === null) return null;
		const before = now - SCHEDULE.untried;
		if (!(await this.#store.hasExpiredEvents(before))) return null;
		return { write: [{ op: 'erase_events', before, limit: PORTION }] };
	}

	/** Only while it is as it was found: what comes after it was revived is not cancelled. */
	#cancelling(endpoint: WebhookRecord): Commit {
		const at = this.#clock.now();
		return {
			expect: [expectVersion('webhooks', endpoint)],
			write: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at, limit: PORTION }],
		};
	}
}

function stillCancelling(): AppError {
	const message = 'What waited when the endpoint was disabled is still being cancelled. Try again soon.';
	return new AppError('unavailable', message, { retry_after: 1 });
}
