import { AppError, type Clock, clientNetwork, type Log } from '../base/index.ts';
import type { Scope } from '../contract/index.ts';
import type { ApiKeyRecord, Store, UserRecord, WorkspaceRecord } from '../store/index.ts';
import { hashApiKey, isApiKey } from './api-keys.ts';
import type { DashboardNetworks } from './dashboard-networks.ts';
import { LastUseRecorder } from './last-use-recorder.ts';
import { planOf } from './plans.ts';
import { includesScope, scopesOf } from './roles.ts';
import { hasTotp } from './second-factor.ts';
import { sessionTokenIn } from './session-cookie.ts';
import type { Sessions, UserSession } from './sessions.ts';
import type { SharedRateLimits } from './shared-rate-limits.ts';
import { type BucketState, TokenBuckets } from './token-bucket.ts';

/** A verified credential that acts in one workspace. */
export interface Caller {
	workspaceId: string;
	/** The id of the API key or of the session. */
	credentialId: string;
	/** The name of the key or of the user. */
	name: string;
	scopes: ReadonlyArray<'*' | Scope>;
	/** When the API key expires (milliseconds since the epoch); null: never, or a session, whose user may sign in again. */
	expiresAt: number | null;
	/** The session and its user; null for an API key. */
	userSession: UserSession | null;
}

/** What a request has that may hold a credential, and where it comes from. */
export interface Credentials {
	/** The Authorization header. */
	authorization?: string | undefined;
	/** The Cookie header. */
	cookies?: string | undefined;
	/** The client's address, on which sessions may depend. */
	address?: string | undefined;
}

export interface AccessOptions {
	store: Pick<Store, 'access' | 'commit' | 'get' | 'getMany'>;
	sessions: Pick<Sessions, 'find'>;
	dashboardNetworks: DashboardNetworks;
	clock: Clock;
	log: Log;
	/** Requests a minute per credential in place of the plan's limit; 0: no limit; undefined: the plan's. */
	rateLimit: number | undefined;
	/** For a cluster: the limits hold for all nodes together. */
	sharedRateLimits?: Pick<SharedRateLimits, 'bucketsOf'> | undefined;
}

/** Requests a minute without a valid credential from one client network: the limit of a key of the default plan. */
const ANONYMOUS_REQUESTS_PER_MINUTE = 6_000;

/** Authenticates callers, checks their scopes and counts their requests. */
export class Access {
	readonly #store: AccessOptions['store'];
	readonly #sessions: AccessOptions['sessions'];
	readonly #dashboardNetworks: DashboardNetworks;
	readonly #clock: Clock;
	readonly #rateLimit: number | undefined;
	readonly #buckets: TokenBuckets;
	/** For client networks whose requests had no valid credential. */
	readonly #anonymousBuckets: TokenBuckets;
	readonly #lastUseRecorder: LastUseRecorder;

	constructor({ store, sessions, dashboardNetworks, clock, log, rateLimit, sharedRateLimits }: AccessOptions) {
		this.#store = store;
		this.#sessions = sessions;
		this.#dashboardNetworks = dashboardNetworks;
		this.#clock = clock;
		this.#rateLimit = rateLimit;
		this.#buckets = sharedRateLimits?.bucketsOf('credentials') ?? new TokenBuckets(clock);
		this.#anonymousBuckets = sharedRateLimits?.bucketsOf('networks') ?? new TokenBuckets(clock);
		this.#lastUseRecorder = new LastUseRecorder({ store, clock, log });
	}

	/**
	 * The caller of a request. Each request reads the credential from the store, so a revocation takes effect at once. Where there
	 * is a Bearer key, only the key counts. Another scheme, such as a proxy's Basic, leaves the session in effect.
	 * @throws AppError `unauthorized`, `address_not_allowed`, `second_factor_setup_required`
	 */
	async authenticate({ authorization, cookies, address }: Credentials): Promise<Caller> {
		if (authorization !== undefined && /^bearer\b/i.test(authorization)) return this.#callerOfKey(authorization);
		// Before the session is read: its use from elsewhere must not renew it.
		if (sessionTokenIn(cookies) !== null) this.requireDashboardNetwork(address);
		const userSession = await this.#sessions.find(cookies);
		if (!userSession) return this.#callerOfKey(authorization);
		if (await this.needsTotpSetup(userSession)) throw new AppError('second_factor_setup_required');
		return callerOf(userSession);
	}

	/**
	 * The user who is signed in. Other credentials of the request are ignored.
	 * @throws AppError `unauthorized`, `address_not_allowed`
	 */
	async authenticateUser({ cookies, address }: Credentials): Promise<Caller & { userSession: UserSession }> {
		this.requireDashboardNetwork(address);
		const signedIn = await this.#sessions.find(cookies);
		if (!signedIn) throw new AppError('unauthorized', 'You are not signed in, or the session has expired.');
		return callerOf(signedIn);
	}

	/**
	 * People use the dashboard, its sessions and the links for passwords from the networks of the settings only.
	 * @throws AppError `address_not_allowed`
	 */
	requireDashboardNetwork(address: string | undefined): void {
		this.#dashboardNetworks.requireAllowed(address);
	}

	/** The ids of the credentials that have been neither revoked nor expired, by a few queries for all of them. */
	async validCredentials(callers: readonly Caller[]): Promise<Set<string>> {
		const signedIn = callers.filter((caller): caller is Caller & { userSession: UserSession } => !!caller.userSession);
		const keyIds = callers.filter(({ userSession }) => !userSession).map(({ credentialId }) => credentialId);
		const valid = new Set<string>();
		for (const key of await this.#store.getMany('api_keys', keyIds)) if (this.#isUnexpired(key)) valid.add(key.id);
		if (signedIn.length === 0) return valid;
		const sessions = new Set<string>();
		const sessionIds = signedIn.map(({ credentialId }) => credentialId);
		for (const session of await this.#store.getMany('sessions', sessionIds)) {
			if (this.#isUnexpired(session)) sessions.add(session.id);
		}
		const stillSignedIn = signedIn.filter(({ credentialId }) => sessions.has(credentialId));
		if (stillSignedIn.length === 0) return valid;
		const users = byId(
			await this.#store.getMany('users', distinct(stillSignedIn.map(({ userSession }) => userSession.user.id))),
		);
		const workspaces = byId(
			await this.#store.getMany('workspaces', distinct(stillSignedIn.map(({ workspaceId }) => workspaceId))),
		);
		for (const { credentialId, userSession, workspaceId } of stillSignedIn) {
			const user = users.get(userSession.user.id);
			const lacksTotp = user && lacksRequiredTotp(userSession.session, user, workspaces.get(workspaceId));
			if (!lacksTotp) valid.add(credentialId);
		}
		return valid;
	}

	/**
	 * Whether a user's workspace requires a second factor that the user has not set up. Until then only the own account can be used. It
	 * belongs to passwords: an identity provider has its own.
	 */
	async needsTotpSetup({ session, user }: Pick<UserSession, 'session' | 'user'>): Promise<boolean> {
		if (session.signed_in_by === 'oidc' || hasTotp(user)) return false;
		return lacksRequiredTotp(session, user, await this.#store.get('workspaces', user.workspace_id));
	}

	/** @throws AppError `insufficient_scope` for a key, `forbidden` for a session */
	requireScope({ scopes, userSession }: Caller, scope: Scope): void {
		if (includesScope(scopes, scope)) return;
		if (userSession) {
			throw new AppError(
				'forbidden',
				`Your role (${userSession.user.role}) does not allow this. It lacks the scope ${scope}.`,
			);
		}
		throw new AppError('insufficient_scope', `The API key lacks the scope ${scope}.`);
	}

	/** Requests that this caller may make in a minute; 0: any number. */
	async requestsPerMinute({ workspaceId }: Pick<Caller, 'workspaceId'>): Promise<number> {
		return this.#rateLimit ?? planOf((await this.#store.get('workspaces', workspaceId))?.plan).requestsPerMinute;
	}

	/** Counts a request of this caller; null where there is no limit. */
	async count(caller: Caller): Promise<BucketState | null> {
		const perMinute = await this.requestsPerMinute(caller);
		return perMinute === 0 ? null : this.#buckets.tryConsume(caller.credentialId, perMinute);
	}

	/** Counts a request without a valid credential, for the client network of its address; null where there is no limit. */
	countAnonymous(address: string): BucketState | null {
		const perMinute = this.#rateLimit ?? ANONYMOUS_REQUESTS_PER_MINUTE;
		return perMinute === 0 ? null : this.#anonymousBuckets.tryConsume(clientNetwork(address), perMinute);
	}

	#isUnexpired(record: Pick<ApiKeyRecord, 'expires_at'> | undefined): boolean {
		return record !== undefined && (record.expires_at === null || record.expires_at > this.#clock.now());
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

function lacksRequiredTotp(
	{ signed_in_by }: UserSession['session'],
	user: UserRecord,
	workspace: WorkspaceRecord | undefined,
): boolean {
	return signed_in_by !== 'oidc' && !hasTotp(user) && (workspace?.require_totp ?? false);
}

function byId<R extends { id: string }>(records: readonly R[]): Map<string, R> {
	return new Map(records.map((record) => [record.id, record]));
}

function distinct(ids: readonly string[]): string[] {
	return [...new Set(ids)];
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
