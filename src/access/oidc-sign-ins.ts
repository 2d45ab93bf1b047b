import { createHash } from 'node:crypto';
import { AppError, type Clock } from '../base/index.ts';
import type { AuthorizationChecks, IdentityProvider } from '../oidc/index.ts';
import { requireCommitted, type Store } from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';
import type { OidcAccounts } from './oidc-accounts.ts';
import type { SignInOrigin } from './password-verifier.ts';
import { SealedCookie, type SealedCookieOptions } from './sealed-cookie.ts';
import type { Sessions, UserSession } from './sessions.ts';

/** A sign-in waits this long for the person at the identity provider. */
const LIFETIME_SECONDS = 600;
/** The scope of the keys of used states. */
const USED_STATES = 'openid connect states';
/** A used state is stored for so long (ms): longer than its cookie is valid by the clock of any node. */
const USED_STATE_MS = LIFETIME_SECONDS * 1_000 + 3_600_000;

export interface OidcSignInsOptions extends Pick<SealedCookieOptions, 'secrets' | 'clock' | 'secure'> {
	/** Has the states that were used, of which a copy of the cookie is refused. */
	store: Pick<Store, 'commit'>;
	provider: IdentityProvider;
	accounts: OidcAccounts;
	sessions: Sessions;
	/** This server's address as browsers see it, from the settings. */
	address: () => string;
	/** How the page of the sign-in names the identity provider. */
	label: string;
}

/** An authorization response: the parameters that the identity provider gave to the browser. */
export interface AuthorizationResponse {
	state: string;
	code?: string | undefined;
	iss?: string | undefined;
	error?: string | undefined;
	error_description?: string | undefined;
}

/** A sign-in that has begun. */
export interface BegunSignIn {
	/** Where the browser goes. */
	url: string;
	/** The Set-Cookie header that binds the sign-in to the browser. */
	cookie: string;
}

/**
 * Sign-ins by OpenID Connect. A sealed cookie holds state, nonce and PKCE verifier in the browser that began, so an answer in another
 * browser is refused (login CSRF), and an attacker's code in this one too.
 */
export class OidcSignIns {
	readonly label: string;
	readonly #provider: IdentityProvider;
	readonly #accounts: OidcAccounts;
	readonly #sessions: Sessions;
	readonly #address: () => string;
	readonly #clock: Clock;
	readonly #cookie: SealedCookie<AuthorizationChecks>;
	readonly #store: OidcSignInsOptions['store'];

	constructor({ store, provider, accounts, sessions, address, label, ...cookie }: OidcSignInsOptions) {
		this.label = label;
		this.#store = store;
		this.#provider = provider;
		this.#accounts = accounts;
		this.#sessions = sessions;
		this.#address = address;
		this.#clock = cookie.clock;
		const purpose = 'openid connect sign-ins';
		this.#cookie = new SealedCookie({ name: 'parley_oidc', purpose, lifetimeSeconds: LIFETIME_SECONDS, ...cookie });
	}

	/** @throws AppError `identity_provider_failed` */
	async begin(): Promise<BegunSignIn> {
		const { url, ...checks } = await this.#provider.begin(this.#redirectUri());
		return { url, cookie: this.#cookie.issue(checks) };
	}

	/**
	 * Ends a sign-in with the answer that the browser has brought.
	 * @throws AppError `unauthorized`, `sign_in_refused`, `account_deactivated`, `identity_provider_failed`
	 */
	async finish(response: AuthorizationResponse, origin: SignInOrigin, audit: AuditWrites): Promise<UserSession> {
		const checks = this.#cookie.find(origin.cookies);
		if (checks === null || checks.state !== response.state) {
			const sentence = 'The sign-in has expired, or was begun in another browser or tab. Sign in again.';
			throw new AppError('unauthorized', sentence);
		}
		await this.#useState(checks.state);
		const parameters = Object.entries(response).filter((entry): entry is [string, string] => entry[1] !== undefined);
		const identity = await this.#provider.finish(Object.fromEntries(parameters), checks, this.#redirectUri());
		return this.#sessions.beginForIdentity((now) => this.#accounts.accountOf(identity, now), origin, audit);
	}

	/** The Set-Cookie header that ends the sign-in of the browser, whether it succeeded or not. */
	clear(): string {
		return this.#cookie.clear();
	}

	/**
	 * Stores a state as a key of a request that is answered once: of two uses at the same time, on whichever nodes, one is refused.
	 * @throws AppError `unauthorized` where the state was used before
	 */
	async #useState(state: string): Promise<void> {
		const key = createHash('sha256').update(state).digest('base64url');
		const expires_at = this.#clock.now() + USED_STATE_MS;
		const receipt = { scope: USED_STATES, key, body_hash: '', status: 200, body: '', expires_at, accept_expired: true };
		const outcome = await this.#store.commit({ idempotency: receipt });
		if (outcome.outcome === 'replay') throw new AppError('unauthorized', 'The sign-in has expired. Sign in again.');
		requireCommitted(outcome);
	}

	/** Registered with the issuer. It never comes from a request. */
	#redirectUri(): string {
		return `${this.#address()}/dashboard`;
	}
}
