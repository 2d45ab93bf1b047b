import { AppError, type Clock, type ClockJumpDetector, type Deferred, deferred, rejectOnAbort } from '../base/index.ts';
import {
	type CompleteReceipt,
	type CompleteResponse,
	expectVersion,
	type IdempotencyRecord,
	IdempotentReplayError,
	type ReceiptKey,
	type Store,
	type StoredResponse,
} from '../store/index.ts';

/** How long a stored answer is given again. */
const KEY_LIFETIME_MS = 24 * 3_600_000;
/** How often an answer is kept anew when its conversation has changed meanwhile. */
const MAX_CONFLICT_RETRIES = 20;

/** What makes two requests the same one, sent twice. */
export interface IdempotentRequest {
	/** Whose key it is, and for what. */
	scope: string;
	/** The client's Idempotency-Key. */
	key: string;
	/** Of the body; the same key with another one is a mistake. */
	fingerprint: string;
}

/** The right to carry out a request: nobody else does at the same time under the same key. */
export interface IdempotencyClaim {
	/** The part of a commit that lets repeats be answered the same; it must go with the request's own change. */
	receipt(answer: CompleteResponse & Pick<IdempotencyRecord, 'subject'>): CompleteReceipt;
	/** The same for a response that is pending when the change is committed: the commit adds where it will be found. */
	receiptKey(): ReceiptKey;
	/** Lets repeats go on before the request is answered. What they need must be on disk. */
	releaseEarly(): void;
}

/** What a repeat's turn may come to. */
export interface IdempotentHandlers<T> {
	/** Carries the request out: it is the first, or those before it came to nothing. */
	execute(claim: IdempotencyClaim): Promise<T>;
	/** Answers a repeat from what is stored. */
	replay(stored: StoredResponse, claim: IdempotencyClaim): Promise<T>;
}

interface InFlightRequest {
	fingerprint: string;
	done: Deferred<void>;
}

/** Requests under an Idempotency-Key: each is carried out once, and its repeats are answered the same for 24 hours. */
export class Idempotency {
	readonly #store: Pick<Store, 'commit' | 'get' | 'idempotency'>;
	readonly #clock: Clock;
	/** Requests that are being carried out, by scope and key. Each is a connection of ours, which bounds them. */
	readonly #inFlight = new Map<string, InFlightRequest>();

	readonly #jumpDetector: Pick<ClockJumpDetector, 'isSuspect'>;

	constructor({
		store,
		clock,
		watch: jumpDetector,
	}: {
		store: Pick<Store, 'commit' | 'get' | 'idempotency'>;
		clock: Clock;
		watch: Pick<ClockJumpDetector, 'isSuspect'>;
	}) {
		this.#store = store;
		this.#jumpDetector = jumpDetector;
		this.#clock = clock;
	}

	/**
	 * Carries a request out, or answers it as the first one was; waits while the first one is under way.
	 * @param signal gives up waiting
	 * @throws AppError `idempotency_key_reused`, and whatever `execute` throws
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
		// A clock that is wrong for a moment must not have a request carried out a second time.
		const accept_expired = this.#jumpDetector.isSuspect();
		const receiptKey = (): ReceiptKey => ({
			scope: request.scope,
			key: request.key,
			body_hash: request.fingerprint,
			expires_at: this.#clock.now() + KEY_LIFETIME_MS,
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
			const stored = await this.#store.idempotency.storedResponse(request.scope, request.key, accept_expired);
			return await (stored ? replayStored(stored) : execute(claim));
		} catch (error) {
			if (error instanceof IdempotentReplayError) return await replayStored(error.storedResponse);
			throw error;
		} finally {
			releaseEarly();
		}
	}

	/** Stores an answer that no commit carried: nothing was changed, or the request was refused while it was carried out. */
	async storeReceipt(receipt: IdempotencyRecord): Promise<void> {
		const { scope, key, subject, accept_expired } = receipt;
		for (let attempt = 0; attempt < MAX_CONFLICT_RETRIES; attempt++) {
			if (await this.#store.idempotency.storedResponse(scope, key, accept_expired)) return;
			const conversation = subject ? await this.#store.get('conversations', subject) : undefined;
			// Erased meanwhile: what the answer shows of it must not outlive it.
			if (subject && !conversation) return;
			const expect = conversation ? [expectVersion('conversations', conversation)] : [];
			const { outcome } = await this.#store.commit({ expect, idempotency: receipt });
			if (outcome === 'fenced') throw new AppError('unavailable', 'Another server has taken over the database.');
			if (outcome !== 'conflict') return;
		}
		throw new AppError('unavailable', 'The conversation is being changed by too many at once.', { retry_after: 1 });
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
	if (stored !== fingerprint) throw new AppError('idempotency_key_reused');
}
