import { AppError, type Log } from '../base/index.ts';
import type { Access, Caller } from './access.ts';

/** Something that goes on only while the credential is good with which it was begun. */
export interface CredentialUse {
	/** Aborts when the credential has ended, or with the request. */
	readonly signal: AbortSignal;
	/** Whether the credential was what ended it. */
	readonly isRevoked: boolean;
	/** It is over: nobody need watch any more. */
	end(): void;
}

export interface CredentialMonitorOptions {
	access: Pick<Access, 'isCredentialValid'>;
	log: Log;
	/** Milliseconds after which a credential that ended by itself, or by the command line, is noticed. */
	recheckIntervalMs?: number;
	/** Uses that one credential may have at once. */
	concurrencyLimit?: number;
}

const RECHECK_INTERVAL_MS = 2_000;
/** One key may be a backend that passes streams on to all its users; each costs a few KB. */
const CONCURRENCY_LIMIT = 20_000;
/** The server does not know when a client will leave. */
const RETRY_SECONDS = 10;

/** What one credential has begun. */
interface CredentialUses {
	caller: Caller;
	uses: Set<() => void>;
}

/**
 * Ends what outlives the moment at which its credential was checked, event streams above all, as soon as the credential is
 * revoked or over. It holds as many entries as there are open streams.
 */
export class CredentialMonitor implements Disposable {
	readonly #access: CredentialMonitorOptions['access'];
	readonly #log: Log;
	readonly #credentials = new Map<string, CredentialUses>();
	readonly #timer: NodeJS.Timeout;
	readonly #concurrencyLimit: number;

	constructor({
		access,
		log,
		recheckIntervalMs = RECHECK_INTERVAL_MS,
		concurrencyLimit = CONCURRENCY_LIMIT,
	}: CredentialMonitorOptions) {
		this.#access = access;
		this.#log = log;
		this.#concurrencyLimit = concurrencyLimit;
		this.#timer = setInterval(() => void this.recheckAll(), recheckIntervalMs);
		this.#timer.unref();
	}

	/** Credentials that are in use. */
	get size(): number {
		return this.#credentials.size;
	}

	/**
	 * Begins a use of a caller's credential. It must be ended.
	 * @throws AppError `rate_limit_exceeded` where the credential has as many as it may have
	 */
	beginUse(caller: Caller, request: AbortSignal): CredentialUse {
		const credential = this.#credentials.get(caller.credentialId) ?? { caller, uses: new Set() };
		if (credential.uses.size >= this.#concurrencyLimit) throw concurrencyLimitError(this.#concurrencyLimit);
		const controller = new AbortController();
		this.#credentials.set(caller.credentialId, credential);
		let revoked = false;
		const revoke = () => {
			revoked = true;
			end();
			controller.abort();
		};
		const onRequestAbort = () => {
			end();
			controller.abort(request.reason);
		};
		const end = () => {
			request.removeEventListener('abort', onRequestAbort);
			credential.uses.delete(revoke);
			if (credential.uses.size === 0 && this.#credentials.get(caller.credentialId) === credential) {
				this.#credentials.delete(caller.credentialId);
			}
		};
		credential.uses.add(revoke);
		request.addEventListener('abort', onRequestAbort, { once: true });
		if (request.aborted) onRequestAbort();
		// It may have ended between its check and now.
		else void this.#recheck(credential);
		return new TrackedCredentialUse(controller.signal, () => revoked, end);
	}

	/** Looks which credentials in use are good still, and ends what was begun with the others. Never rejects. */
	async recheckAll(): Promise<void> {
		await Promise.all([...this.#credentials.values()].map((credential) => this.#recheck(credential)));
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	async #recheck({ caller, uses }: CredentialUses): Promise<void> {
		try {
			if (await this.#access.isCredentialValid(caller)) return;
		} catch (error) {
			// A look that failed tells nothing about the credential; the next one is soon.
			this.#log.warn({ err: error }, 'the credentials in use could not be looked at');
			return;
		}
		for (const revoke of [...uses]) revoke();
	}
}

function concurrencyLimitError(limit: number): AppError {
	const sentence = `At most ${limit} event streams and replies may be under way at once with one API key or session. Try again in ${RETRY_SECONDS} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
}

/** One for each open stream. An object literal with a getter would be of a shape of its own each time, which takes half a kilobyte. */
class TrackedCredentialUse implements CredentialUse {
	readonly signal: AbortSignal;
	readonly end: () => void;
	readonly #isRevoked: () => boolean;

	constructor(signal: AbortSignal, isRevoked: () => boolean, end: () => void) {
		this.signal = signal;
		this.#isRevoked = isRevoked;
		this.end = end;
	}

	get isRevoked(): boolean {
		return this.#isRevoked();
	}
}
