import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Settings } from '../../src/config/index.ts';

/** What the issuer says of a person. */
export interface IssuerPerson {
	email?: string;
	email_verified?: boolean;
	name?: string;
	groups?: string[];
}

/** An OpenID Connect issuer on the loopback address. */
export interface TestIssuer extends AsyncDisposable {
	url: string;
	/** By login, which is also the subject. */
	people: Map<string, IssuerPerson>;
	/** Handles a request in place of the issuer if it returns true. */
	intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
	/** The settings of a server whose people sign in here. */
	settings: Partial<Settings>;
	/** Signs a person in as a browser does. @returns the parameters with which the issuer sends the browser back */
	authenticate(authorizationUrl: string, login: string): Promise<Record<string, string>>;
}

const CLIENT = { client_id: 'parley', client_secret: 'a secret of forty-three characters in base64' };
const SCOPES = 'openid email profile groups';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** @param idTokenSeconds how long ID tokens are valid */
export async function startIssuer({ idTokenSeconds = 3_600 } = {}): Promise<TestIssuer> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const people = new Map<string, IssuerPerson>();
	const provider = createProvider(url, people, idTokenSeconds);
	const handle = provider.callback();
	const issuer: TestIssuer = {
		url,
		people,
		intercept: () => false,
		settings: {
			oidc_issuer: url,
			oidc_client_id: CLIENT.client_id,
			oidc_client_secret: CLIENT.client_secret,
			oidc_scopes: SCOPES,
			oidc_role_claim: 'groups',
			oidc_roles: ['bosses=owner', 'admins=admin', 'staff=member', 'cn=support,dc=example=agent'],
		},
		authenticate: (authorizationUrl, login) => new IssuerBrowser(url).authenticate(authorizationUrl, login),
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	server.on('request', (request, response) => {
		if (!issuer.intercept(request, response)) handle(request, response);
	});
	return issuer;
}

function createProvider(url: string, people: ReadonlyMap<string, IssuerPerson>, idTokenSeconds: number): Provider {
	const provider = new Provider(url, {
		clients: [{ ...CLIENT, redirect_uris: ['http://127.0.0.1/dashboard'] }],
		jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
		cookies: { keys: ['of a test'] },
		claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
		ttl: { IdToken: idTokenSeconds, Interaction: 600, Session: 600, Grant: 600, AccessToken: 600 },
		findAccount: (_: unknown, login: string) => ({
			accountId: login,
			claims: () => ({ sub: login, ...people.get(login) }),
		}),
		// The issuer does not ask for consent.
		async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
			const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
			grant.addOIDCScope(SCOPES);
			await grant.save();
			return grant;
		},
	});
	// The server under test listens on any port.
	provider.Client.prototype.redirectUriAllowed = (uri) => /^http:\/\/127\.0\.0\.1:\d+\/dashboard$/.test(uri);
	return provider;
}

/** A browser at the issuer. */
class IssuerBrowser {
	readonly #issuer: string;
	readonly #cookies = new Map<string, string>();

	constructor(issuer: string) {
		this.#issuer = issuer;
	}

	async authenticate(authorizationUrl: string, login: string): Promise<Record<string, string>> {
		const form = await this.#follow(authorizationUrl);
		if (form.origin !== this.#issuer) return Object.fromEntries(form.searchParams);
		const body = new URLSearchParams({ prompt: 'login', login, password: 'any' });
		const back = await this.#follow(form.href, { method: 'POST', body });
		assert.notEqual(back.origin, this.#issuer, back.href);
		return Object.fromEntries(back.searchParams);
	}

	/** Follows redirects, to a page of the issuer or the first address elsewhere. */
	async #follow(first: string, init: RequestInit = {}): Promise<URL> {
		let url = new URL(first);
		for (let request = init; url.origin === this.#issuer; request = {}) {
			const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
			const response = await fetch(url, { ...request, redirect: 'manual', headers: { cookie } });
			await response.arrayBuffer();
			for (const set of response.headers.getSetCookie()) {
				const [pair = ''] = set.split(';');
				this.#cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
			}
			const location = response.headers.get('location');
			if (location === null) {
				assert.equal(response.status, 200, url.href);
				return url;
			}
			url = new URL(location, url);
		}
		return url;
	}
}
