import { AppError, type Clock, clientNetwork, type Log } from '../base/index.ts';
import type { Scope } from '../contract/index.ts';
import type { ApiKeyRecord, Store } from '../store/index.ts';
import { hashApiKey, isApiKey } from './api-keys.ts';
import { LastUseRecorder } from './last-use-recorder.ts';
import { planOf } from './plans.ts';
import { includesScope, scopesOf } from './roles.ts';
import type { Sessions, UserSession } from './sessions.ts';
import { type BucketState, TokenBuckets } from './token-bucket.ts';

/** Who calls: a credential that was checked, acting in one workspace. */
export interface Caller {
	workspaceId: string;
	/** Of the API key, or of the session. */
	credentialId: string;
	/** The key's, or the person's. */
	name: string;
	scopes: ReadonlyArray<'*' | Scope>;
	/** When who calls may do so no more (ms since the epoch); null: never, as a person, who may sign in again. */
	expiresAt: number | null;
	/** Whose session it is; null where an API key calls. */
	userSession: UserSession | null;
}

/** What a request brings along to say who sends it. */
export interface Credentials {
	/** The Authorization header. */
	authorization?: string | undefined;
	/** The Cookie header. */
	cookies?: string | undefined;
}

export interface AccessOptions {
	store: Pick<Store, 'access' | 'commit' | 'get'>;
	sessions: Pick<Sessions, 'find'>;
	clock: Clock;
	log: Log;
	/** Requests a minute per credential instead of the plan's; 0: none; undefined: the plan's. */
	rateLimit: number | undefined;
}

/** Requests a minute from one address whose sender is not known: as many as the default plan gives to a key. */
const ANONYMOUS_REQUESTS_PER_MINUTE = 6_000;

/** Who is allowed to do what, and how often. */
export class Access {
	readonly #store: AccessOptions['store'];
	readonly #sessions: AccessOptions['sessions'];
	readonly #clock: Clock;
	readonly #rateLimit: number | undefined;
	readonly #buckets: TokenBuckets;
	/** Of the addresses whose requests had no good credential. */
	readonly #anonymousBuckets: TokenBuckets;
	readonly #lastUseRecorder: LastUseRecorder;

	constructor({ store, sessions, clock, log, rateLimit }: AccessOptions) {
		this.#store = store;
		this.#sessions = sessions;
		this.#clock = clock;
		this.#rateLimit = rateLimit;
		this.#buckets = new TokenBuckets(clock);
		this.#anonymousBuckets = new TokenBuckets(clock);
		this.#lastUseRecorder = new LastUseRecorder({ store, clock, log });
	}

	/**
	 * Who a request's credentials speak for. Read from the store on every request: a revoked one ends at once. A Bearer key
	 * decides alone; what a proxy asks for itself (Basic, say) does not stand in the way of a session.
	 * @throws AppError `unauthorized`
	 */
	async authenticate({ authorization, cookies }: Credentials): Promise<Caller> {
		if (authorization !== undefined && /^bearer\b/i.test(authorization)) return this.#callerOfKey(authorization);
		const userSession = await this.#sessions.find(cookies);
		return userSession ? callerOf(userSession) : this.#callerOfKey(authorization);
	}

	/**
	 * Who is signed in, whatever other credentials the request brings.
	 * @throws AppError `unauthorized`
	 */
	async authenticateUser({ cookies }: Credentials): Promise<Caller & { userSession: UserSession }> {
		const signedIn = await this.#sessions.find(cookies);
		if (!signedIn) throw new AppError('unauthorized', 'Nobody is signed in, or the session is over.');
		return callerOf(signedIn);
	}

	/** Whether a caller's credential is good still. */
	async isCredentialValid({ credentialId, userSession }: Caller): Promise<boolean> {
		const kind = userSession ? 'sessions' : 'api_keys';
		const record = await this.#store.get(kind, credentialId);
		return record !== undefined && (record.expires_at === null || record.expires_at > this.#clock.now());
	}

	/** @throws AppError `insufficient_scope` for a key, `forbidden` for a person */
	requireScope({ scopes, userSession }: Caller, scope: Scope): void {
		if (includesScope(scopes, scope)) return;
		if (userSession) throw new AppError('forbidden', 'Only owners of the workspace may do this.');
		throw new AppError('insufficient_scope', `The API key lacks the scope ${scope}.`);
	}

	/** Counts a request of this caller; null where there is no limit. */
	async count(caller: Caller): Promise<BucketState | null> {
		const perMinute =
			this.#rateLimit ?? planOf((await this.#store.get('workspaces', caller.workspaceId))?.plan).requestsPerMinute;
		return perMinute === 0 ? null : this.#buckets.tryConsume(caller.credentialId, perMinute);
	}

	/** Counts a request whose sender is not known, for the network of its address; null where there is no limit. */
	countAnonymous(address: string): BucketState | null {
		const perMinute = this.#rateLimit ?? ANONYMOUS_REQUESTS_PER_MINUTE;
		return perMinute === 0 ? null : this.#anonymousBuckets.tryConsume(clientNetwork(address), perMinute);
	}

	async #callerOfKey(authorization: string | undefined): Promise<Caller> {
		const { workspace_id, id, name, scopes, expires_at } = await this.#keyOf(authorization);
		return { workspaceId: workspace_id, credentialId: id, name, scopes, expiresAt: expires_at, userSession: null };
	}

	async #keyOf(authorization: string | undefined): Promise<ApiKeyRecord> {
		if (authorization === undefined) {
			throw new AppError('unauthorized', 'Send your API key in the header "Authorization: Bearer <key>", or sign in.');
		}
		const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
		if (token === undefined || !isApiKey(token)) throw new AppError('unauthorized', 'This is not an API key.');
		const record = await this.#store.access.apiKeyByHash(hashApiKey(token));
		if (!record) throw new AppError('unauthorized', 'The API key is unknown or was revoked.');
		if (record.expires_at !== null && record.expires_at <= this.#clock.now()) {
			throw new AppError('unauthorized', 'The API key has expired.');
		}
		this.#lastUseRecorder.record(record);
		return record;
	}
}

function callerOf(userSession: UserSession): Caller & { userSession: UserSession } {
	const { session, user } = userSession;
	return {
		workspaceId: user.workspace_id,
		credentialId: session.id,
		name: user.name,
		scopes: scopesOf(user.role),
		expiresAt: null,
		userSession,
	};
}
