import { AppError, type ClockJumpDetector, type Deferred, deferred, rejectOnAbort } from '../base/index.ts';
import {
	type CompleteReceipt,
	type CompleteResponse,
	ERASED_BODY_HASH,
	expectVersion,
	fencedError,
	type IdempotencyRecord,
	IdempotentReplayError,
	type ReceiptKey,
	type Store,
	type StoredResponse,
} from '../store/index.ts';

/** How long a stored response is replayed (milliseconds). */
const KEY_LIFETIME_MS = 24 * 3_600_000;
/** How often the storing of a response is retried when its conversation has changed meanwhile. */
const MAX_CONFLICT_RETRIES = 20;

/** What identifies repeats of a request. */
export interface IdempotentRequest {
	/** The owner of the key and the operation. */
	scope: string;
	/** The client's Idempotency-Key. */
	key: string;
	/** Of the body. The same key with another fingerprint is an error. */
	fingerprint: string;
}

/** The exclusive right to execute a request with its key. */
export interface IdempotencyClaim {
	/** The part of the request's commit by which repeats get the same response. */
	receipt(answer: CompleteResponse & Pick<IdempotencyRecord, 'subject'>): CompleteReceipt;
	/** The same for a response that is pending when the change is committed: the commit adds where it will be found. */
	receiptKey(): ReceiptKey;
	/** Lets repeats continue before the request has its response. What they need must be on disk. */
	releaseEarly(): void;
}

/** What executes or replays a request. */
export interface IdempotentHandlers<T> {
	/** Executes the request: it is the first, or the earlier ones failed. */
	execute(claim: IdempotencyClaim): Promise<T>;
	/** Responds to a repeat from what is stored. */
	replay(stored: StoredResponse, claim: IdempotencyClaim): Promise<T>;
}

interface InFlightRequest {
	fingerprint: string;
	done: Deferred<void>;
}

/** Requests with an Idempotency-Key: each is executed once, and its repeats get the same response for 24 hours. */
export class Idempotency {
	readonly #store: Pick<Store, 'commit' | 'get' | 'idempotency'>;
	/** Requests in flight, by scope and key. Each has a connection, and the connection limit bounds them. */
	readonly #inFlight = new Map<string, InFlightRequest>();

	readonly #jumpDetector: Pick<ClockJumpDetector, 'isSuspect' | 'startOfLifetime'>;

	constructor({
		store,
		jumpDetector,
	}: {
		store: Pick<Store, 'commit' | 'get' | 'idempotency'>;
		jumpDetector: Pick<ClockJumpDetector, 'isSuspect' | 'startOfLifetime'>;
	}) {
		this.#store = store;
		this.#jumpDetector = jumpDetector;
	}

	/**
	 * Executes a request, or replays the response of the first one. Waits while the first one is in flight.
	 * @param signal aborts the wait
	 * @throws AppError `idempotency_key_reused`, and what `execute` throws
	 */
	async run<T>(
		request: IdempotentRequest,
		{ execute, replay }: IdempotentHandlers<T>,
		signal: AbortSignal,
	): Promise<T> {
		const id = JSON.stringify([request.scope, request.key]);
		for (let earlier = this.#inFlight.get(id); earlier; earlier = this.#inFlight.get(id)) {
			requireSameFingerprint(earlier.fingerprint, request.fingerprint);
			await waitUntilDone(earlier, signal);
		}
		const running: InFlightRequest = { fingerprint: request.fingerprint, done: deferred() };
		this.#inFlight.set(id, running);
		const releaseEarly = () => {
			if (this.#inFlight.get(id) === running) this.#inFlight.delete(id);
			running.done.resolve();
		};
		// A clock that is wrong for a moment must not cause a second execution.
		const accept_expired = this.#jumpDetector.isSuspect();
		const receiptKey = (): ReceiptKey => ({
			scope: request.scope,
			key: request.key,
			body_hash: request.fingerprint,
			expires_at: this.#jumpDetector.startOfLifetime() + KEY_LIFETIME_MS,
			accept_expired,
		});
		const claim: IdempotencyClaim = {
			receipt: (answer) => ({ ...receiptKey(), ...answer }),
			receiptKey,
			releaseEarly,
		};
		const replayStored = (stored: StoredResponse) => {
			requireSameFingerprint(stored.body_hash, request.fingerprint);
			return replay(stored, claim);
		};
		try {
			const { scope, key, fingerprint } = request;
			const stored = await this.#store.idempotency.storedResponse(
				{ scope, key, body_hash: fingerprint },
				{ includeExpired: accept_expired },
			);
			return await (stored ? replayStored(stored) : execute(claim));
		} catch (error) {
			if (error instanceof IdempotentReplayError) return await replayStored(error.storedResponse);
			throw error;
		} finally {
			releaseEarly();
		}
	}

	/** Stores a response that no commit carried: the request changed nothing, or it was rejected during its execution. */
	async storeReceipt(receipt: IdempotencyRecord): Promise<void> {
		const { subject, accept_expired: includeExpired = false } = receipt;
		for (let attempt = 0; attempt < MAX_CONFLICT_RETRIES; attempt++) {
			if (await this.#store.idempotency.storedResponse(receipt, { includeExpired })) return;
			const conversation = subject ? await this.#store.get('conversations', subject) : undefined;
			// Erased meanwhile: the response must not keep any of its content.
			if (subject && !conversation) return;
			const expect = conversation ? [expectVersion('conversations', conversation)] : [];
			const { outcome } = await this.#store.commit({ expect, idempotency: receipt });
			if (outcome === 'fenced') throw fencedError();
			if (outcome !== 'conflict') return;
		}
		throw new AppError('unavailable', 'Too many requests change the conversation at the same time.', {
			retry_after: 1,
		});
	}
}

/**
 * Waits until an earlier request with the same key has its response.
 * @throws AppError `unavailable` when the signal aborts first
 */
async function waitUntilDone({ done }: InFlightRequest, signal: AbortSignal): Promise<void> {
	try {
		await rejectOnAbort(done.promise, signal);
	} catch (cause) {
		throw new AppError('unavailable', 'The request took too long.', { retry_after: 1, cause });
	}
}

function requireSameFingerprint(stored: string, fingerprint: string): void {
	if (stored === ERASED_BODY_HASH) {
		throw new AppError(
			'idempotency_key_reused',
			'The conversation of this request has been erased. To send the request again, use a new Idempotency-Key.',
		);
	}
	if (stored !== fingerprint) throw new AppError('idempotency_key_reused');
}
