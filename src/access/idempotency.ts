import { AppError, type Clock, type ClockJumpDetector, type Deferred, deferred } from '../base/index.ts';
import {
	expectVersion,
	type IdempotencyRecord,
	IdempotentReplayError,
	type Store,
	type StoredResponse,
} from '../store/index.ts';

/** How long a stored answer is given again. */
const WINDOW_MS = 24 * 3_600_000;
/** How often an answer is kept anew when its conversation has changed meanwhile. */
const ATTEMPTS = 20;

/** What makes two requests the same one, sent twice. */
export interface RepeatKey {
	/** Whose key it is, and for what. */
	scope: string;
	/** The client's Idempotency-Key. */
	key: string;
	/** Of the body; the same key with another one is a mistake. */
	fingerprint: string;
}

/** The right to carry out a request: nobody else does at the same time under the same key. */
export interface Claim {
	/** The part of a commit that lets repeats be answered the same; it must go with the request's own change. */
	receipt(answer: Pick<IdempotencyRecord, 'status' | 'body' | 'subject'>): IdempotencyRecord;
	/** Lets repeats go on before the request is answered. What they need must be on disk. */
	release(): void;
}

/** What a repeat's turn may come to. */
export interface Turns<T> {
	/** Carries the request out: it is the first, or those before it came to nothing. */
	execute(claim: Claim): Promise<T>;
	/** Answers a repeat from what is stored. */
	replay(stored: StoredResponse, claim: Claim): Promise<T>;
}

interface Running {
	fingerprint: string;
	ended: Deferred<void>;
}

/** Requests under an Idempotency-Key: each is carried out once, and its repeats are answered the same for 24 hours. */
export class Idempotency {
	readonly #store: Pick<Store, 'storedResponse' | 'commit' | 'get'>;
	readonly #clock: Clock;
	/** Requests that are being carried out, by scope and key. Each is a connection of ours, which bounds them. */
	readonly #running = new Map<string, Running>();

	readonly #watch: Pick<ClockJumpDetector, 'isSuspect'>;

	constructor({
		store,
		clock,
		watch,
	}: {
		store: Pick<Store, 'storedResponse' | 'commit' | 'get'>;
		clock: Clock;
		watch: Pick<ClockJumpDetector, 'isSuspect'>;
	}) {
		this.#store = store;
		this.#watch = watch;
		this.#clock = clock;
	}

	/**
	 * Carries a request out, or answers it as the first one was; waits while the first one is under way.
	 * @param signal gives up waiting
	 * @throws AppError `idempotency_key_reused`, and whatever `execute` throws
	 */
	async run<T>(key: RepeatKey, { execute, replay }: Turns<T>, signal: AbortSignal): Promise<T> {
		const id = JSON.stringify([key.scope, key.key]);
		for (let first = this.#running.get(id); first; first = this.#running.get(id)) {
			requireSame(first.fingerprint, key.fingerprint);
			await endOrAbort(first, signal);
			if (signal.aborted) throw new AppError('unavailable', 'The request took too long.', { retry_after: 1 });
		}
		const running: Running = { fingerprint: key.fingerprint, ended: deferred() };
		this.#running.set(id, running);
		const release = () => {
			if (this.#running.get(id) === running) this.#running.delete(id);
			running.ended.resolve();
		};
		// A clock that is wrong for a moment must not have a request carried out a second time.
		const accept_expired = this.#watch.isSuspect();
		const claim: Claim = {
			receipt: (answer) => ({
				scope: key.scope,
				key: key.key,
				body_hash: key.fingerprint,
				expires_at: this.#clock.now() + WINDOW_MS,
				accept_expired,
				...answer,
			}),
			release,
		};
		const again = (stored: StoredResponse) => {
			requireSame(stored.body_hash, key.fingerprint);
			return replay(stored, claim);
		};
		try {
			const stored = await this.#store.storedResponse(key.scope, key.key, accept_expired);
			return await (stored ? again(stored) : execute(claim));
		} catch (error) {
			if (error instanceof IdempotentReplayError) return await again(error.storedResponse);
			throw error;
		} finally {
			release();
		}
	}

	/** Stores an answer that no commit carried: nothing was changed, or the request was refused while it was carried out. */
	async remember(receipt: IdempotencyRecord): Promise<void> {
		const { scope, key, subject, accept_expired } = receipt;
		for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
			if (await this.#store.storedResponse(scope, key, accept_expired)) return;
			const shown = subject ? await this.#store.get('conversations', subject) : undefined;
			// Erased meanwhile: what the answer shows of it must not outlive it.
			if (subject && !shown) return;
			const expect = shown ? [expectVersion('conversations', shown)] : [];
			const { outcome } = await this.#store.commit({ expect, idempotency: receipt });
			if (outcome === 'fenced') throw new AppError('unavailable', 'Another server has taken over the database.');
			if (outcome !== 'conflict') return;
		}
		throw new AppError('unavailable', 'The conversation is being changed by too many at once.', { retry_after: 1 });
	}
}

/** Waits until a request is answered, or the one who waits has gone. */
async function endOrAbort({ ended }: Running, signal: AbortSignal): Promise<void> {
	const left = deferred<void>();
	const leave = () => left.resolve();
	if (signal.aborted) return;
	signal.addEventListener('abort', leave, { once: true });
	await Promise.race([ended.promise, left.promise]);
	signal.removeEventListener('abort', leave);
}

function requireSame(former: string, fingerprint: string): void {
	if (former !== fingerprint) throw new AppError('idempotency_key_reused');
}
