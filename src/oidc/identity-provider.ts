import * as oidc from 'openid-client';
import { boundedErrorText, type Clock, type Log, messageOf } from '../base/index.ts';
import type { Network } from '../net/index.ts';
import { createIssuerFetch } from './issuer-fetch.ts';
import { foreignAnswerError, providerError } from './provider-errors.ts';
import { claimAt } from './role-mapping.ts';

export interface IdentityProviderOptions {
	network: Network;
	/** The issuer's URL, from the settings. */
	issuer: string;
	clientId: string;
	/** Absent: a public client, which PKCE alone protects. */
	clientSecret?: string | undefined;
	/** Separated by spaces. */
	scopes: string;
	/** The claim with the roles: where the ID token lacks it, the UserInfo endpoint is asked. */
	roleClaim: string;
	clock: Clock;
	log: Log;
	/** Milliseconds for each request. */
	timeoutMs?: number | undefined;
}

/** What the answer to an authorization request is checked against. All are secrets of the browser that began it. */
export interface AuthorizationChecks {
	state: string;
	nonce: string;
	codeVerifier: string;
}

/** An authorization request, to which the browser goes. */
export interface AuthorizationRequest extends AuthorizationChecks {
	url: string;
}

/** A person whom the issuer has authenticated. */
export interface Identity {
	issuer: string;
	subject: string;
	/** Null where the issuer gave none. */
	email: string | null;
	isEmailVerified: boolean;
	name: string | null;
	claims: Readonly<Record<string, unknown>>;
}

const TIMEOUT_MS = 10_000;
/** How long the issuer's metadata is used until it is read again. */
const METADATA_LIFETIME_MS = 3_600_000;
/** Clocks may differ by this (seconds). */
const CLOCK_TOLERANCE_SECONDS = 60;

type Claims = Record<string, unknown>;

/**
 * An OpenID Connect issuer: the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1; RFC 7636; RFC 9207). It is
 * asked only when a person signs in, so a server starts without it.
 */
export class IdentityProvider {
	readonly #options: IdentityProviderOptions;
	readonly #timeoutMs: number;
	readonly #fetch: oidc.CustomFetch;
	#metadata: { value: Promise<oidc.ServerMetadata>; readAt: number } | null = null;

	constructor(options: IdentityProviderOptions) {
		this.#options = options;
		this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
		this.#fetch = createIssuerFetch(options.network, options.issuer, this.#timeoutMs);
	}

	/** Makes an authorization request. @throws AppError `identity_provider_failed` */
	begin(redirectUri: string): Promise<AuthorizationRequest> {
		return this.#withSentences(async () => {
			const configuration = await this.#configuration();
			const codeVerifier = oidc.randomPKCECodeVerifier();
			const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
			const url = oidc.buildAuthorizationUrl(configuration, {
				redirect_uri: redirectUri,
				scope: this.#options.scopes,
				state,
				nonce,
				code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
				code_challenge_method: 'S256',
			});
			return { url: url.href, state, nonce, codeVerifier };
		});
	}

	/**
	 * Exchanges the code of an authorization response for the identity.
	 * @param response the parameters that the browser has brought
	 * @throws AppError `unauthorized`, `sign_in_refused`, `identity_provider_failed`
	 */
	finish(
		response: Readonly<Record<string, string>>,
		{ state, nonce, codeVerifier }: AuthorizationChecks,
		redirectUri: string,
	): Promise<Identity> {
		return this.#withSentences(async () => {
			const configuration = await this.#configuration();
			requireOwnAnswer(response, configuration.serverMetadata());
			const url = new URL(redirectUri);
			url.search = new URLSearchParams(response).toString();
			const tokens = await oidc.authorizationCodeGrant(configuration, url, {
				expectedState: state,
				expectedNonce: nonce,
				pkceCodeVerifier: codeVerifier,
				idTokenExpected: true,
			});
			const idToken: Claims & { iss: string; sub: string } = { ...(tokens.claims() as oidc.IDToken) };
			const userInfo = await this.#userInfo(configuration, tokens.access_token, idToken);
			return identityOf(idToken, userInfo);
		});
	}

	/** What the ID token lacks; empty where it has all, or the issuer has nothing else. */
	async #userInfo(
		configuration: oidc.Configuration,
		accessToken: string,
		idToken: Claims & { sub: string },
	): Promise<Claims> {
		const isComplete = idToken.email !== undefined && claimAt(idToken, this.#options.roleClaim) !== undefined;
		if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return {};
		return { ...(await oidc.fetchUserInfo(configuration, accessToken, idToken.sub)) };
	}

	/** A configuration of the library for one sign-in: it has the time of the server's clock. */
	async #configuration(): Promise<oidc.Configuration> {
		const { clientId, clientSecret, clock, issuer } = this.#options;
		const metadata = await this.#currentMetadata();
		const client = {
			...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
			[oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
			[oidc.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
		};
		const configuration = new oidc.Configuration(metadata, clientId, client, this.#authentication(metadata));
		configuration[oidc.customFetch] = this.#fetch;
		configuration.timeout = this.#timeoutMs / 1_000;
		// The settings permit that on this machine only.
		if (issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration);
		// The signature of the ID token counts, not only the connection that it came by.
		oidc.enableNonRepudiationChecks(configuration);
		return configuration;
	}

	/** The way of sending the secret. Basic is the default of the standard; some issuers accept only the other one. */
	#authentication({ token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata): oidc.ClientAuth {
		const { clientSecret } = this.#options;
		if (clientSecret === undefined) return oidc.None();
		return methods === undefined || methods.includes('client_secret_basic')
			? oidc.ClientSecretBasic(clientSecret)
			: oidc.ClientSecretPost(clientSecret);
	}

	#currentMetadata(): Promise<oidc.ServerMetadata> {
		const now = this.#options.clock.now();
		const known = this.#metadata;
		if (known !== null && Math.abs(now - known.readAt) < METADATA_LIFETIME_MS) return known.value;
		const read = { value: this.#discover(), readAt: now };
		this.#metadata = read;
		read.value.catch(() => {
			// The next sign-in asks again.
			if (this.#metadata === read) this.#metadata = null;
		});
		return read.value;
	}

	async #discover(): Promise<oidc.ServerMetadata> {
		const { issuer, clientId } = this.#options;
		const configuration = await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
			[oidc.customFetch]: this.#fetch,
			timeout: this.#timeoutMs / 1_000,
			execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
		});
		return configuration.serverMetadata();
	}

	async #withSentences<T>(act: () => Promise<T>): Promise<T> {
		try {
			return await act();
		} catch (thrown) {
			const error = providerError(thrown);
			this.#options.log.warn({ code: error.code, cause: causesOf(thrown) }, 'a sign-in by OpenID Connect has failed');
			throw error;
		}
	}
}

/** The messages of an error and its causes, which name no token. */
function causesOf(thrown: unknown): string {
	const messages: string[] = [];
	for (let error = thrown; error instanceof Error; error = error.cause) messages.push(messageOf(error));
	return boundedErrorText(messages.join(': '));
}

/**
 * An answer of another issuer must not bring its code to this one (RFC 9207, section 2.4).
 * @throws AppError `sign_in_refused`
 */
function requireOwnAnswer({ iss }: Readonly<Record<string, string>>, metadata: oidc.ServerMetadata): void {
	const isNamed = iss !== undefined || metadata.authorization_response_iss_parameter_supported === true;
	if (isNamed && iss !== metadata.issuer) throw foreignAnswerError();
}

/** The address and whether it is verified come from the same place. */
function identityOf(idToken: Claims & { iss: string; sub: string }, userInfo: Claims): Identity {
	const { email, email_verified } = idToken.email === undefined ? userInfo : idToken;
	const claims = { ...userInfo, ...idToken };
	const { name } = claims as Claims;
	return {
		issuer: idToken.iss,
		subject: idToken.sub,
		email: typeof email === 'string' ? email : null,
		isEmailVerified: email_verified === true,
		name: typeof name === 'string' ? name : null,
		claims,
	};
}
