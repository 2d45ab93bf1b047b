import { type AbortableRequest, type Clock, type Log, type RevocableUse, RevocableUses } from '../base/index.ts';
import type { Access, Caller } from './access.ts';

export interface CredentialMonitorOptions {
	access: Pick<Access, 'validCredentials'>;
	clock: Clock;
	log: Log;
	/** Milliseconds after which a credential is noticed that expired, or that another process revoked: the command line, or another node. */
	recheckIntervalMs?: number;
	/** Uses that one credential may have at once. */
	concurrencyLimit?: number;
}

const RECHECK_INTERVAL_MS = 2_000;
/** One key may be of a backend that passes streams on to all its users; each costs a few KB. */
const CONCURRENCY_LIMIT = 20_000;
/** Credentials that are read at once. */
const CREDENTIALS_PER_CHECK = 500;

/** Ends event streams and replies as soon as the API key or session that began them is revoked or expires. */
export class CredentialMonitor implements Disposable {
	readonly #access: CredentialMonitorOptions['access'];
	readonly #log: Log;
	readonly #uses: RevocableUses<Caller>;
	readonly #timer: NodeJS.Timeout;
	/** Credentials whose check began in this iteration of the event loop, and has neither failed nor found them invalid. */
	readonly #checked = new Set<string>();
	/** Those of which another use has begun since. */
	readonly #usedSince = new Set<string>();
	#isChecking = false;

	constructor({
		access,
		clock,
		log,
		recheckIntervalMs = RECHECK_INTERVAL_MS,
		concurrencyLimit = CONCURRENCY_LIMIT,
	}: CredentialMonitorOptions) {
		this.#access = access;
		this.#log = log;
		this.#uses = new RevocableUses({ clock, concurrencyLimit, limitSentence });
		this.#timer = setInterval(() => {
			if (!this.#isChecking) void this.recheckAll();
		}, recheckIntervalMs);
		this.#timer.unref();
	}

	/** Credentials that are in use. */
	get size(): number {
		return this.#uses.size.grants;
	}

	/**
	 * Begins a use of a caller's credential. It must be ended.
	 * @throws AppError `rate_limit_exceeded` when the credential has too many uses
	 */
	beginUse(caller: Caller, request: AbortableRequest): RevocableUse<Caller> {
		const { credentialId, expiresAt } = caller;
		const terms = { grantId: credentialId, limitKey: credentialId, context: caller, expiresAt, request };
		const use = this.#uses.begin(terms);
		// The credential may have been revoked between its check and now.
		if (!use.isEnded) this.#recheckBegun(credentialId);
		return use;
	}

	/** Checks the credentials in use and revokes the uses of those that are no longer valid. Never rejects. */
	async recheckAll(): Promise<void> {
		this.#isChecking = true;
		// A credential may have been revoked since it was found valid.
		this.#checked.clear();
		await this.#recheck(this.#uses.grantIds());
		this.#isChecking = false;
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	/**
	 * Checks a credential of which a use has begun. For the first use in an iteration of the event loop it is checked at once, before that use
	 * can send anything; for all further uses once more, when the iteration ends.
	 */
	#recheckBegun(credentialId: string): void {
		if (this.#checked.has(credentialId)) {
			this.#usedSince.add(credentialId);
			return;
		}
		if (this.#checked.size === 0) setImmediate(() => this.#endIteration());
		this.#checked.add(credentialId);
		void this.#recheck([credentialId]);
	}

	#endIteration(): void {
		const ids = [...this.#usedSince];
		this.#usedSince.clear();
		this.#checked.clear();
		void this.#recheck(ids);
	}

	/** Never rejects. */
	async #recheck(credentialIds: readonly string[]): Promise<void> {
		for (let from = 0; from < credentialIds.length; from += CREDENTIALS_PER_CHECK) {
			await this.#recheckSome(credentialIds.slice(from, from + CREDENTIALS_PER_CHECK));
		}
	}

	async #recheckSome(credentialIds: readonly string[]): Promise<void> {
		const callers = credentialIds.flatMap((id) => this.#uses.oneOf(id)?.context ?? []);
		try {
			const valid = await this.#access.validCredentials(callers);
			for (const { credentialId } of callers) if (!valid.has(credentialId)) this.#revokeAll(credentialId);
		} catch (error) {
			for (const { credentialId } of callers) this.#checked.delete(credentialId);
			this.#logFailure(error);
		}
	}

	#revokeAll(credentialId: string): void {
		this.#checked.delete(credentialId);
		for (const use of this.#uses.of(credentialId)) use.revoke();
	}

	/** A failed check says nothing about the credential; the next one is soon. */
	#logFailure(error: unknown): void {
		this.#log.warn({ err: error }, 'the credentials in use could not be checked');
	}
}

function limitSentence(limit: number): string {
	return `At most ${limit} event streams and replies may be in flight at once with one API key or session.`;
}
