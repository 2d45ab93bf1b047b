import { AppError, type Clock } from '../base/index.ts';
import type { Scope } from '../contract/index.ts';
import type { ApiKeyRecord, Store } from '../store/index.ts';
import { hashApiKey, isApiKey } from './api-keys.ts';
import { planOf } from './plans.ts';
import { type BucketState, TokenBuckets } from './token-bucket.ts';

/** Who calls: a credential that was checked, acting in one workspace. */
export interface Caller {
	workspaceId: string;
	credentialId: string;
	name: string;
	scopes: ReadonlyArray<'*' | Scope>;
}

/** What a request brings along to say who sends it. */
export interface Credentials {
	authorization: string | undefined;
}

export interface AccessOptions {
	store: Pick<Store, 'apiKeyByHash' | 'get'>;
	clock: Clock;
	/** Requests a minute per credential instead of the plan's; 0: none; undefined: the plan's. */
	rateLimit: number | undefined;
}

/** Who is allowed to do what, and how often. */
export class Access {
	readonly #store: AccessOptions['store'];
	readonly #clock: Clock;
	readonly #rateLimit: number | undefined;
	readonly #buckets: TokenBuckets;

	constructor({ store, clock, rateLimit }: AccessOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#rateLimit = rateLimit;
		this.#buckets = new TokenBuckets(clock);
	}

	/**
	 * Who the Authorization header speaks for. Read from the store on every request: a revoked key ends at once.
	 * @throws AppError `unauthorized`
	 */
	async authenticate({ authorization }: Credentials): Promise<Caller> {
		const key = await this.#keyOf(authorization);
		return { workspaceId: key.workspace_id, credentialId: key.id, name: key.name, scopes: key.scopes };
	}

	/** @throws AppError `insufficient_scope` */
	requireScope(caller: Caller, scope: Scope): void {
		if (caller.scopes.includes('*') || caller.scopes.includes(scope)) return;
		throw new AppError('insufficient_scope', `The API key lacks the scope ${scope}.`);
	}

	/** Counts a request of this caller; null where there is no limit. */
	async count(caller: Caller): Promise<BucketState | null> {
		const perMinute =
			this.#rateLimit ?? planOf((await this.#store.get('workspaces', caller.workspaceId))?.plan).requestsPerMinute;
		return perMinute === 0 ? null : this.#buckets.take(caller.credentialId, perMinute);
	}

	async #keyOf(authorization: string | undefined): Promise<ApiKeyRecord> {
		if (authorization === undefined) {
			throw new AppError('unauthorized', 'Send your API key in the header "Authorization: Bearer <key>".');
		}
		const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
		if (token === undefined || !isApiKey(token)) throw new AppError('unauthorized', 'This is not an API key.');
		const record = await this.#store.apiKeyByHash(hashApiKey(token));
		if (!record) throw new AppError('unauthorized', 'The API key is unknown or was revoked.');
		if (record.expires_at !== null && record.expires_at <= this.#clock.now()) {
			throw new AppError('unauthorized', 'The API key has expired.');
		}
		return record;
	}
}
