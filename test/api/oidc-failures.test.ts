import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import type { Clock } from '../../src/base/index.ts';
import type { Settings } from '../../src/config/index.ts';
import { startIssuer, type TestIssuer } from '../access/identity-provider.ts';
import { assertRefused, openCookieClient } from '../access/people.ts';
import { startTestApp, type TestApp } from '../support/app.ts';

const SESSION = '/api/v1/session';
const UNREACHABLE = 'The identity provider cannot be reached, or did not answer in time. Try again later.';
const UNUSABLE = 'The identity provider gave an answer that this server cannot use.';
const CLOCKS = 'The clocks of this server and of the identity provider differ too much.';
/** For requests that are never answered. */
const DEADLINE_MS = 300;
const json = { 'content-type': 'application/json' };

const issuer = await startIssuer({ idTokenSeconds: 600 });
after(() => issuer[Symbol.asyncDispose]());
issuer.people.set('ada', { email: 'ada@login.example', email_verified: true, groups: ['staff'] });
beforeEach(() => {
	issuer.intercept = () => false;
});

interface ServerOptions {
	settings?: Partial<Settings>;
	/** By how much its clock is ahead. */
	aheadMs?: number;
	/** For each request to the issuer. */
	timeoutMs?: number | undefined;
}

/** A server whose people sign in with the issuer. */
function startServer(from: TestIssuer, { settings, aheadMs = 0, timeoutMs }: ServerOptions = {}): Promise<TestApp> {
	const clock: Clock = { now: () => Date.now() + aheadMs };
	const overrides = { clock, ...(timeoutMs === undefined ? {} : { identityProviderTimeoutMs: timeoutMs }) };
	return startTestApp({ settings: { ...from.settings, ...settings }, overrides });
}

/** Begins a sign-in, and ends it where it could begin. */
async function signIn(app: TestApp) {
	const browser = openCookieClient(app);
	const begun = await browser.call('POST', `${SESSION}/oidc`);
	if (begun.status !== 200) return begun;
	const [cookie = ''] = (begun.headers.getSetCookie()[0] ?? '').split(';');
	const answer = await issuer.authenticate(begun.body.url, 'ada');
	return browser.call('POST', `${SESSION}/oidc/callback`, answer, { cookie });
}

/** Handles the requests to one path of the issuer. */
function at(path: string, handle: (request: IncomingMessage, response: ServerResponse) => void) {
	issuer.intercept = (request, response) => {
		if (request.url?.split('?')[0] !== path) return false;
		handle(request, response);
		return true;
	};
}

function sendJson(response: ServerResponse, value: object): void {
	response.writeHead(200, json).end(JSON.stringify(value));
}

async function assertFailure(app: TestApp, sentence: string, what?: string): Promise<void> {
	const refused = await signIn(app);
	assertRefused(refused, 503, 'identity_provider_failed', what);
	assert.equal(refused.body.error.message, sentence, what);
}

test('a server starts without its issuer, says that it cannot be reached, and uses it once it is there', async () => {
	const gone = await startIssuer();
	await gone[Symbol.asyncDispose]();
	await using app = await startServer(gone);
	await assertFailure(app, UNREACHABLE);
	await assertFailure(app, UNREACHABLE, 'a failure is not kept');
	await using other = await startServer(issuer);
	at('/.well-known/openid-configuration', (_, response) => response.writeHead(502).end('Bad Gateway'));
	await assertFailure(other, UNUSABLE);
	issuer.intercept = () => false;
	assert.equal((await signIn(other)).status, 201);
});

test('every request to the issuer has a deadline', async () => {
	for (const path of ['/.well-known/openid-configuration', '/token', '/jwks', '/me']) {
		await using app = await startServer(issuer, { timeoutMs: DEADLINE_MS });
		at(path, () => {});
		await assertFailure(app, UNREACHABLE, path);
		at(path, (_, response) => void response.writeHead(200, json).write('{"issuer":'));
		await assertFailure(app, UNREACHABLE, `the beginning of ${path}`);
	}
});

test('answers that are no answers of an issuer are sentences, and bodies without end are not read', async () => {
	const answers: Array<(response: ServerResponse) => void> = [
		(response) => response.writeHead(200, json).end('[]'),
		(response) => response.writeHead(200, json).end('{'),
		(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in'),
		(response) => response.writeHead(302, { location: 'https://elsewhere.example/token' }).end(),
		(response) => response.writeHead(500).end(),
		(response) => response.writeHead(200, json).end(`{"x":"${'x'.repeat(2 * 1024 * 1024)}"}`),
	];
	for (const path of ['/.well-known/openid-configuration', '/token', '/jwks', '/me']) {
		await using app = await startServer(issuer);
		for (const [index, answer] of answers.entries()) {
			at(path, (_, response) => answer(response));
			const refused = await signIn(app);
			assertRefused(refused, 503, 'identity_provider_failed', `${path} ${index}`);
		}
	}
});

test('an ID token that no key of the issuer has signed is refused', async () => {
	await using app = await startServer(issuer);
	at('/jwks', (_, response) => sendJson(response, { keys: [] }));
	await assertFailure(app, UNUSABLE);
});

test('endpoints elsewhere must have public addresses', async () => {
	await using app = await startServer(issuer);
	const path = '/.well-known/openid-configuration';
	const metadata = (await (await fetch(issuer.url + path)).json()) as object;
	at(path, (_, response) => sendJson(response, { ...metadata, token_endpoint: 'https://10.0.0.1/token' }));
	await assertFailure(app, UNREACHABLE);
});

test('an endpoint elsewhere is used where the settings permit its address', async () => {
	await using app = await startServer(issuer, { settings: { allow_private_network: true } });
	const path = '/.well-known/openid-configuration';
	const metadata = (await (await fetch(issuer.url + path)).json()) as object;
	const token_endpoint = `${issuer.url.replace('127.0.0.1', 'localhost')}/token`;
	at(path, (_, response) => sendJson(response, { ...metadata, token_endpoint }));
	assert.equal((await signIn(app)).status, 201);
});

test('a metadata document of another issuer is refused', async () => {
	await using app = await startServer(issuer);
	at('/.well-known/openid-configuration', (_, response) => {
		const metadata = { issuer: 'https://login.attacker.example', authorization_endpoint: `${issuer.url}/auth` };
		sendJson(response, metadata);
	});
	await assertFailure(app, UNUSABLE);
});

test('clocks may differ by a minute; where they differ more, the sentence says so', async () => {
	await using near = await startServer(issuer, { aheadMs: 630_000 });
	assert.equal((await signIn(near)).status, 201);
	await using far = await startServer(issuer, { aheadMs: 7_200_000 });
	await assertFailure(far, CLOCKS);
});

test('a wrong client secret is a sentence', async () => {
	await using app = await startServer(issuer, { settings: { oidc_client_secret: 'another' } });
	await assertFailure(app, 'The identity provider has not accepted the credentials of this server.');
});

test('a server without an issuer says so', async () => {
	await using app = await startTestApp();
	const browser = openCookieClient(app);
	assert.deepEqual((await browser.call('GET', `${SESSION}/methods`)).body, { password: true, oidc: null });
	assertRefused(await browser.call('POST', `${SESSION}/oidc`), 404, 'not_found');
	assertRefused(await browser.call('POST', `${SESSION}/oidc/callback`, { state: 'x' }), 404, 'not_found');
});
