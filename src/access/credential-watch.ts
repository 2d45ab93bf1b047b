import { AppError, type Log } from '../base/index.ts';
import type { Access, Caller } from './access.ts';

/** Something that goes on only while the credential is good with which it was begun. */
export interface Use {
	/** Aborts when the credential has ended, or with the request. */
	readonly signal: AbortSignal;
	/** Whether the credential was what ended it. */
	readonly revoked: boolean;
	/** It is over: nobody need watch any more. */
	end(): void;
}

export interface CredentialWatchOptions {
	access: Pick<Access, 'isGood'>;
	log: Log;
	/** Milliseconds after which a credential that ended by itself, or by the command line, is noticed. */
	everyMs?: number;
	/** Uses that one credential may have at once. */
	atOnce?: number;
}

const EVERY_MS = 2_000;
/** One key may be a backend that passes streams on to all its users; each costs a few KB. */
const AT_ONCE = 20_000;
/** The server does not know when a client will leave. */
const RETRY_SECONDS = 10;

/** What one credential has begun. */
interface Watched {
	caller: Caller;
	uses: Set<() => void>;
}

/**
 * Ends what outlives the moment at which its credential was checked, event streams above all, as soon as the credential is
 * revoked or over. It holds as many entries as there are open streams.
 */
export class CredentialWatch implements Disposable {
	readonly #access: CredentialWatchOptions['access'];
	readonly #log: Log;
	readonly #watched = new Map<string, Watched>();
	readonly #timer: NodeJS.Timeout;
	readonly #atOnce: number;

	constructor({ access, log, everyMs = EVERY_MS, atOnce = AT_ONCE }: CredentialWatchOptions) {
		this.#access = access;
		this.#log = log;
		this.#atOnce = atOnce;
		this.#timer = setInterval(() => void this.look(), everyMs);
		this.#timer.unref();
	}

	/** Credentials that are in use. */
	get size(): number {
		return this.#watched.size;
	}

	/**
	 * Begins a use of a caller's credential. It must be ended.
	 * @throws AppError `rate_limit_exceeded` where the credential has as many as it may have
	 */
	begin(caller: Caller, request: AbortSignal): Use {
		const watched = this.#watched.get(caller.credentialId) ?? { caller, uses: new Set() };
		if (watched.uses.size >= this.#atOnce) throw tooMany(this.#atOnce);
		const controller = new AbortController();
		this.#watched.set(caller.credentialId, watched);
		let revoked = false;
		const revoke = () => {
			revoked = true;
			end();
			controller.abort();
		};
		const leave = () => {
			end();
			controller.abort(request.reason);
		};
		const end = () => {
			request.removeEventListener('abort', leave);
			watched.uses.delete(revoke);
			if (watched.uses.size === 0 && this.#watched.get(caller.credentialId) === watched) {
				this.#watched.delete(caller.credentialId);
			}
		};
		watched.uses.add(revoke);
		request.addEventListener('abort', leave, { once: true });
		if (request.aborted) leave();
		// It may have ended between its check and now.
		else void this.#lookAt(watched);
		return new WatchedUse(controller.signal, () => revoked, end);
	}

	/** Looks which credentials in use are good still, and ends what was begun with the others. Never rejects. */
	async look(): Promise<void> {
		await Promise.all([...this.#watched.values()].map((watched) => this.#lookAt(watched)));
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	async #lookAt({ caller, uses }: Watched): Promise<void> {
		try {
			if (await this.#access.isGood(caller)) return;
		} catch (error) {
			// A look that failed tells nothing about the credential; the next one is soon.
			this.#log.warn({ err: error }, 'the credentials in use could not be looked at');
			return;
		}
		for (const revoke of [...uses]) revoke();
	}
}

function tooMany(limit: number): AppError {
	const sentence = `At most ${limit} event streams and replies may be under way at once with one API key or session. Try again in ${RETRY_SECONDS} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
}

/** One for each open stream. An object literal with a getter would be of a shape of its own each time, which takes half a kilobyte. */
class WatchedUse implements Use {
	readonly signal: AbortSignal;
	readonly end: () => void;
	readonly #isRevoked: () => boolean;

	constructor(signal: AbortSignal, isRevoked: () => boolean, end: () => void) {
		this.signal = signal;
		this.#isRevoked = isRevoked;
		this.end = end;
	}

	get revoked(): boolean {
		return this.#isRevoked();
	}
}
