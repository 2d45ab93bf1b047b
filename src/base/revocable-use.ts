import type { Clock } from './clock.ts';
import { AppError } from './errors.ts';
import { PermittedEvents } from './permitted-events.ts';
import type { PullSource } from './pull-source.ts';

/** The server does not know when a client will leave. */
const RETRY_SECONDS = 10;

export interface RevocableUsesOptions {
	clock: Clock;
	/** Uses with the same `limitKey` at the same time. */
	concurrencyLimit: number;
	/** Tells a client what the limit is. */
	limitSentence(limit: number): string;
}

/** What a use depends on. `C` is what its owner needs to check the grant again. */
export interface UseTerms<C> {
	/** What may be revoked: the id of a credential or of a deployment. */
	grantId: string;
	context: C;
	/** Who may have only so many uses at once. */
	limitKey: string;
	/** When the use ends at the latest (milliseconds since the epoch); null: never. */
	expiresAt: number | null;
	/** The use ends when it aborts. */
	request: AbortableRequest;
}

/** A request that aborts when its client has gone or its deadline has passed. */
export interface AbortableRequest {
	/** Calls the listener when the request aborts, at once if it has aborted already. A listener costs less than an `AbortSignal`. */
	addAbortListener(listener: AbortListener): void;
	removeAbortListener(listener: AbortListener): void;
}

export interface AbortListener {
	onRequestAbort(reason: unknown): void;
}

/**
 * What outlives the moment at which its permission was checked, event streams above all, and ends when the permission is revoked
 * or expires. It holds as many entries as there are uses.
 *
 * 1. `begin` counts a use against the limit. From then on it ends with its request.
 * 2. The owner checks a grant again when it may have changed, and calls `revoke` on each use that it no longer permits. While
 *    such a check is pending, `withholdUntil` holds back the use's events.
 * 3. A use that has expired ends with its next event, or at the next `endExpired`.
 * 4. `end` frees the place of a use. Every way to end a use calls it, and calling it again changes nothing.
 */
export class RevocableUses<C> {
	readonly #clock: Clock;
	readonly #concurrencyLimit: number;
	readonly #limitSentence: (limit: number) => string;
	readonly #byGrant = new Map<string, Set<RevocableUse<C>>>();
	readonly #counts = new Map<string, number>();
	/** No use expires before this. It may be too early, where uses have ended since, but never too late. */
	#earliestExpiry = Number.POSITIVE_INFINITY;

	constructor({ clock, concurrencyLimit, limitSentence }: RevocableUsesOptions) {
		this.#clock = clock;
		this.#concurrencyLimit = concurrencyLimit;
		this.#limitSentence = limitSentence;
	}

	/** How many grants and limit keys have uses. */
	get size(): { grants: number; limitKeys: number } {
		return { grants: this.#byGrant.size, limitKeys: this.#counts.size };
	}

	/**
	 * Begins a use. It must be ended.
	 * @throws AppError `rate_limit_exceeded` when the limit key has too many
	 */
	begin(terms: UseTerms<C>): RevocableUse<C> {
		const { grantId, limitKey, expiresAt } = terms;
		const count = this.#counts.get(limitKey) ?? 0;
		if (count >= this.#concurrencyLimit) {
			const sentence = `${this.#limitSentence(this.#concurrencyLimit)} Try again in ${RETRY_SECONDS} seconds.`;
			throw new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
		}
		this.#counts.set(limitKey, count + 1);
		const use = new RevocableUse(terms, this.#clock, this.#release);
		const uses = this.#byGrant.get(grantId);
		if (uses) uses.add(use);
		else this.#byGrant.set(grantId, new Set([use]));
		if (expiresAt !== null) this.#earliestExpiry = Math.min(this.#earliestExpiry, expiresAt);
		use.endWithRequest();
		return use;
	}

	/** The grants that have uses. */
	grantIds(): string[] {
		return [...this.#byGrant.keys()];
	}

	/** One use of a grant: to check the grant, one is enough. */
	oneOf(grantId: string): RevocableUse<C> | undefined {
		return this.#byGrant.get(grantId)?.values().next().value;
	}

	/** The uses of a grant at this moment. */
	of(grantId: string): RevocableUse<C>[] {
		return [...(this.#byGrant.get(grantId) ?? [])];
	}

	/** Revokes the uses that have expired. Costs nothing until the first one has. */
	endExpired(): void {
		const now = this.#clock.now();
		if (now < this.#earliestExpiry) return;
		this.#earliestExpiry = Number.POSITIVE_INFINITY;
		for (const uses of this.#byGrant.values()) {
			for (const use of [...uses]) {
				if (use.expiresAt > now) this.#earliestExpiry = Math.min(this.#earliestExpiry, use.expiresAt);
				else use.revoke();
			}
		}
	}

	readonly #release = (use: RevocableUse<C>, { grantId, limitKey }: UseTerms<C>): void => {
		const uses = this.#byGrant.get(grantId);
		uses?.delete(use);
		if (uses?.size === 0) this.#byGrant.delete(grantId);
		const remaining = (this.#counts.get(limitKey) ?? 1) - 1;
		if (remaining === 0) this.#counts.delete(limitKey);
		else this.#counts.set(limitKey, remaining);
	};
}

/** An event stream or a reply that continues only while its permission holds. See `RevocableUses`. */
export class RevocableUse<C = unknown> implements AbortListener {
	readonly #terms: UseTerms<C>;
	readonly #clock: Clock;
	readonly #onEnd: (use: RevocableUse<C>, terms: UseTerms<C>) => void;
	/** Made when the signal is first read. */
	#controller: AbortController | null = null;
	/** Why the signal has aborted. */
	#abortReason: { reason: unknown } | null = null;
	#isEnded = false;
	#isRevoked = false;
	/** Resolves when no check is pending. */
	#pendingCheck: Promise<unknown> | null = null;
	/** The events that end with the use. */
	#events: { onUseEnd(): void } | null = null;

	constructor(terms: UseTerms<C>, clock: Clock, onEnd: (use: RevocableUse<C>, terms: UseTerms<C>) => void) {
		this.#terms = terms;
		this.#clock = clock;
		this.#onEnd = onEnd;
	}

	/** Aborts when the use is revoked, or with its request. */
	get signal(): AbortSignal {
		if (this.#controller === null) {
			this.#controller = new AbortController();
			if (this.#abortReason !== null) this.#controller.abort(this.#abortReason.reason);
		}
		return this.#controller.signal;
	}

	/** Whether the use was revoked, rather than ended by its request. */
	get isRevoked(): boolean {
		return this.#isRevoked;
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	/** Milliseconds since the epoch; infinite where the use does not expire. */
	get expiresAt(): number {
		return this.#terms.expiresAt ?? Number.POSITIVE_INFINITY;
	}

	get context(): C {
		return this.#terms.context;
	}

	/** From now on the use ends with its request. */
	endWithRequest(): void {
		this.#terms.request.addAbortListener(this);
	}

	onRequestAbort(reason: unknown): void {
		if (!this.#isEnded) this.#close(reason);
	}

	/** Withholds the events of the use until a check is done, which revokes the use where it fails. The check must not reject. */
	withholdUntil(check: Promise<void>): void {
		const pendingCheck = Promise.all([this.#pendingCheck, check]).then(() => {
			if (this.#pendingCheck === pendingCheck) this.#pendingCheck = null;
		});
		this.#pendingCheck = pendingCheck;
	}

	/**
	 * The same events up to the first that the use no longer permits. The use ends after the last event, after a failure, or when
	 * the reader closes them. Called once.
	 */
	untilRevoked<E>(events: PullSource<E>): PullSource<E> {
		const permitted = new PermittedEvents(events, this);
		this.#events = permitted;
		return permitted;
	}

	/** Resolves when the pending checks are done; null where none is pending. */
	get pendingCheck(): Promise<unknown> | null {
		return this.#pendingCheck;
	}

	get hasExpired(): boolean {
		const { expiresAt } = this.#terms;
		return expiresAt !== null && expiresAt <= this.#clock.now();
	}

	/** Ends the use because its permission no longer holds. */
	revoke(): void {
		if (this.#isEnded) return;
		this.#isRevoked = true;
		this.#close();
	}

	/** Ends the use because it is complete. Its signal does not abort. */
	end(): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#terms.request.removeAbortListener(this);
		this.#onEnd(this, this.#terms);
	}

	#close(reason?: unknown): void {
		this.end();
		this.#abortReason ??= { reason };
		this.#controller?.abort(reason);
		this.#events?.onUseEnd();
	}
}
