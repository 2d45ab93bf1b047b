import { AppError, type Clock, type ClockJumpDetector, type Deferred, deferred } from '../base/index.ts';
import { AnsweredBefore, type IdempotencyRecord, type Store, type StoredAnswer, versionOf } from '../store/index.ts';

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
	replay(stored: StoredAnswer, claim: Claim): Promise<T>;
}

interface Running {
	fingerprint: string;
	ended: Deferred<void>;
}

/** Requests under an Idempotency-Key: each is carried out once, and its repeats are answered the same for 24 hours. */
export class Idempotency {
	readonly #store: Pick<Store, 'storedAnswer' | 'commit' | 'get'>;
	readonly #clock: Clock;
	/** Requests that are being carried out, by scope and key. Each is a connection of ours, which bounds them. */
	readonly #running = new Map<string, Running>();

	readonly #watch: Pick<ClockJumpDetector, 'isSuspect'>;

	constructor({
		store,
		clock,
		watch,
	}: {
		store: Pick<Store, 'storedAnswer' | 'commit' | 'get'>;
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
		const expired_counts = this.#watch.isSuspect();
		const claim: Claim = {
			receipt: (answer) => ({
				scope: key.scope,
				key: key.key,
				body_hash: key.fingerprint,
				expires_at: this.#clock.now() + WINDOW_MS,
				expired_counts,
				...answer,
			}),
			release,
		};
		const again = (stored: StoredAnswer) => {
			requireSame(stored.body_hash, key.fingerprint);
			return replay(stored, claim);
		};
		try {
			const stored = await this.#store.storedAnswer(key.scope, key.key, expired_counts);
			return await (stored ? again(stored) : execute(claim));
		} catch (error) {
			if (error instanceof AnsweredBefore) return await again(error.stored);
			throw error;
		} finally {
			release();
		}
	}

	/** Stores an answer that no commit carried: nothing was changed, or the request was refused while it was carried out. */
	async remember(receipt: IdempotencyRecord): Promise<void> {
		const { scope, key, subject, expired_counts } = receipt;
		for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
			if (await this.#store.storedAnswer(scope, key, expired_counts)) return;
			const shown = subject ? await this.#store.get('conversations', subject) : undefined;
			// Erased meanwhile: what the answer shows of it must not outlive it.
			if (subject && !shown) return;
			const expect = shown ? [versionOf('conversations', shown)] : [];
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
