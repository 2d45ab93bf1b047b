import { errors, type JWTVerifyGetKey, type LocalJWKSet } from 'jose';
import { AppError, type Clock, type Log, messageOf } from '../base/index.ts';
import { downloadKeySet, type KeySetSource } from './key-set-download.ts';

export interface RemoteKeySetOptions {
	source: KeySetSource;
	clock: Clock;
	log: Log;
	/** Milliseconds that fetching may take. Default 5,000. */
	fetchTimeoutMs?: number;
}

const FETCH_TIMEOUT_MS = 5_000;
/** Milliseconds after which a key that was removed from the set is no longer accepted. */
const MAX_AGE_MS = 5 * 60_000;
/** The shortest interval between downloads, whichever keys tokens name and however often the host fails. */
const COOLDOWN_MS = 30_000;
/** The interval between downloads while there is no key set and no token can be verified. */
const RETRY_MS = 5_000;

/**
 * The key set of one URL. It is downloaded when it is first needed, and again when it is old or a token names a key that it lacks;
 * requests that wait at the same time share one download. While the host fails, the last set stays in use.
 */
export class RemoteKeySet {
	readonly #url: string;
	readonly #options: RemoteKeySetOptions;
	#keys: LocalJWKSet | null = null;
	#fetchedAt = Number.NEGATIVE_INFINITY;
	/** When the last download ended, successful or not. */
	#triedAt = Number.NEGATIVE_INFINITY;
	#failing = false;
	#fetching: Promise<void> | null = null;

	constructor(url: string, options: RemoteKeySetOptions) {
		this.#url = url;
		this.#options = options;
	}

	/**
	 * The key that a token's header names.
	 * @throws AppError `unavailable` while there is no set, and the errors of `createLocalJWKSet`
	 */
	readonly find: JWTVerifyGetKey = async (header, token) => {
		const keys = await this.#current();
		try {
			return await keys(header, token);
		} catch (error) {
			if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
			const newer = await this.#refreshed(keys);
			if (newer === keys) throw error;
			return newer(header, token);
		}
	};

	async #current(): Promise<LocalJWKSet> {
		if (this.#hasElapsed(this.#fetchedAt, MAX_AGE_MS) && this.#mayFetch()) {
			const fetched = this.#fetch();
			// After a failure of the host, a set that is in use already is used without another wait.
			if (this.#keys === null || !this.#failing) await fetched;
		}
		if (this.#keys !== null) return this.#keys;
		const wait = Math.ceil((this.#triedAt + RETRY_MS - this.#options.clock.now()) / 1000);
		throw new AppError('unavailable', 'The keys that visitors are verified with cannot be fetched right now.', {
			retry_after: Math.min(Math.max(wait, 1), RETRY_MS / 1000),
		});
	}

	/** A newer set than these keys, where there is one or a download may give one; otherwise the same keys. */
	async #refreshed(keys: LocalJWKSet): Promise<LocalJWKSet> {
		if (this.#keys === keys && this.#mayFetch()) await this.#fetch();
		return this.#keys ?? keys;
	}

	#mayFetch(): boolean {
		return this.#fetching !== null || this.#hasElapsed(this.#triedAt, this.#keys === null ? RETRY_MS : COOLDOWN_MS);
	}

	/** A time in the future counts as past too: the clock has stepped back. */
	#hasElapsed(since: number, ms: number): boolean {
		const passed = this.#options.clock.now() - since;
		return passed < 0 || passed >= ms;
	}

	#fetch(): Promise<void> {
		this.#fetching ??= this.#download().finally(() => {
			this.#fetching = null;
		});
		return this.#fetching;
	}

	/** Never rejects. The outcome is in the fields. */
	async #download(): Promise<void> {
		const { source, clock, log, fetchTimeoutMs = FETCH_TIMEOUT_MS } = this.#options;
		try {
			this.#keys = await downloadKeySet(source, this.#url, fetchTimeoutMs);
			this.#fetchedAt = clock.now();
			this.#failing = false;
		} catch (error) {
			this.#failing = true;
			log.warn({ jwks_url: this.#url, error: messageOf(error) }, 'a key set could not be fetched');
		}
		this.#triedAt = clock.now();
	}
}
