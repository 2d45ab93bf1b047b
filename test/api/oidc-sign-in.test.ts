import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, test } from 'node:test';
import { type IssuerPerson, startIssuer } from '../access/identity-provider.ts';
import { addUser, assertRefused, OWNER, openCookieClient, PASSWORD, startAppWithUsers } from '../access/people.ts';
import { manualWallClock } from '../support/manual-clock.ts';

const SESSION = '/api/v1/session';
const BEGIN = `${SESSION}/oidc`;
const FINISH = `${SESSION}/oidc/callback`;
const LATE = 'The sign-in has expired, or was begun in another browser or tab. Sign in again.';
const USED = 'The sign-in has expired. Sign in again.';
const FOREIGN = 'The answer of the identity provider does not belong to this sign-in. Sign in again.';
const NO_ROLE = 'The identity provider gives you no role on this server.';
const UNVERIFIED = 'The identity provider has not verified your e-mail address.';

const issuer = await startIssuer();
after(() => issuer[Symbol.asyncDispose]());
const clock = manualWallClock();
const people = await startAppWithUsers({
	settings: { ...issuer.settings, oidc_label: 'Example ID' },
	overrides: { clock },
});
const { app, owner, signIn } = people;
after(() => people[Symbol.asyncDispose]());

let logins = 0;
/** A person at the issuer, by login. */
function person(given: IssuerPerson = {}): { login: string; email: string } {
	const login = `person-${++logins}`;
	const email = `${login}@login.example`;
	issuer.people.set(login, { email, email_verified: true, name: 'Ada', groups: ['staff'], ...given });
	return { login, email };
}

/** Begins a sign-in: the address at the issuer, and the Cookie header of the browser. */
async function begin(at: { url: string } = app) {
	const browser = openCookieClient(at);
	const begun = await browser.call('POST', BEGIN);
	assert.equal(begun.status, 200, JSON.stringify(begun.body));
	const [set = ''] = begun.headers.getSetCookie();
	return { browser, url: begun.body.url as string, set, cookie: set.split(';')[0] as string };
}

/** Signs a person in by the issuer. */
async function signInBy(login: string, { at = app }: { at?: { url: string } } = {}) {
	const { browser, url, cookie } = await begin(at);
	const answer = await issuer.authenticate(url, login);
	const finished = await browser.call('POST', FINISH, answer, { cookie });
	return { browser, finished, answer, cookie };
}

const sentenceOf = ({ body }: { body: { error?: { message: string } } }) => body.error?.message;
const usersOf = async (email: string) =>
	(await app.call('GET', '/api/v1/users?limit=100')).body.data.filter(
		(user: { email: string }) => user.email === email,
	);

test('the first sign-in creates the account, later ones find it by issuer and subject', async () => {
	assert.deepEqual((await openCookieClient(app).call('GET', `${SESSION}/methods`)).body, {
		password: true,
		oidc: { label: 'Example ID' },
	});
	const { login, email } = person();
	const { browser, finished, cookie } = await signInBy(login);
	assert.equal(finished.status, 201, JSON.stringify(finished.body));
	const { user, scopes } = finished.body;
	assert.deepEqual(
		[user.email, user.name, user.role, user.has_oidc, user.has_password, user.status],
		[email, 'Ada', 'member', true, false, 'active'],
	);
	assert.ok(!scopes.includes('settings:read'));
	assert.equal((await browser.call('GET', '/api/v1/assistants')).status, 200);
	const cleared = finished.headers.getSetCookie().find((set) => set.startsWith('parley_oidc='));
	assert.match(cleared ?? '', /^parley_oidc=; Path=\/api\/v1\/session; HttpOnly; SameSite=Lax; Max-Age=0/);
	assert.match(cookie, /^parley_oidc=v1\./);
	const [record] = (await app.call('GET', `/api/v1/audit-log?actor=${user.id}`)).body.data;
	assert.equal(record.action, 'finishOidcSignIn');

	issuer.people.set(login, { ...issuer.people.get(login), email: `new-${email}`, name: 'Other' });
	const again = await signInBy(login);
	assert.deepEqual([again.finished.body.user.id, again.finished.body.user.email], [user.id, email]);
});

test('the cookie is sealed, HttpOnly, SameSite=Lax and short-lived; the request has PKCE, a state and a nonce', async () => {
	const { url, set, cookie } = await begin();
	assert.match(set, /^parley_oidc=v1\.[\w-]+; Path=\/api\/v1\/session; HttpOnly; SameSite=Lax; Max-Age=600$/);
	const { searchParams, origin } = new URL(url);
	assert.equal(origin, issuer.url);
	const { state, nonce, code_challenge, ...fixed } = Object.fromEntries(searchParams);
	assert.deepEqual(fixed, {
		client_id: 'parley',
		code_challenge_method: 'S256',
		redirect_uri: `${app.url}/dashboard`,
		response_type: 'code',
		scope: 'openid email profile groups',
	});
	for (const secret of [state, nonce, code_challenge]) {
		assert.match(secret ?? '', /^[\w-]{43}$/);
		assert.ok(!cookie.includes(secret as string));
	}
});

test('the address to which the issuer returns comes from the settings, whatever Host says', async () => {
	const text = await new Promise<string>((resolve, reject) => {
		const request = httpRequest(
			app.url + BEGIN,
			{ method: 'POST', headers: { host: 'evil.example' } },
			async (from) => {
				let body = '';
				for await (const chunk of from) body += chunk;
				resolve(body);
			},
		);
		request.on('error', reject).end();
	});
	assert.equal(new URL(JSON.parse(text).url).searchParams.get('redirect_uri'), `${app.url}/dashboard`);
	const foreign = await openCookieClient(app).call('POST', BEGIN, undefined, { origin: 'https://other.example' });
	assertRefused(foreign, 403, 'csrf_failed');
});

test('an answer in a browser that did not begin the sign-in is refused, and so is another state', async () => {
	const { login } = person();
	const attacker = await begin();
	const answer = await issuer.authenticate(attacker.url, login);
	const victim = openCookieClient(app);
	assert.equal(sentenceOf(await victim.call('POST', FINISH, answer)), LATE, 'no cookie');
	const { cookie: other } = await begin();
	const crossed = await victim.call('POST', FINISH, answer, { cookie: other });
	assertRefused(crossed, 401, 'unauthorized');
	assert.equal(sentenceOf(crossed), LATE, 'the cookie of another sign-in');
	const wrong = await attacker.browser.call('POST', FINISH, { ...answer, state: 'x' }, { cookie: attacker.cookie });
	assertRefused(wrong, 401, 'unauthorized');
	const altered = `${attacker.cookie.slice(0, -2)}AA`;
	assert.equal(sentenceOf(await victim.call('POST', FINISH, answer, { cookie: altered })), LATE);
	const cross = { cookie: attacker.cookie, origin: 'https://other.example' };
	assertRefused(await attacker.browser.call('POST', FINISH, answer, cross), 403, 'csrf_failed');
	assert.equal(victim.cookie, null);
	const right = await attacker.browser.call('POST', FINISH, answer, { cookie: attacker.cookie });
	assert.equal(right.status, 201, 'none of these has used the sign-in up');
});

test('a state is used once, also by two requests at once; a code of another sign-in is refused', async () => {
	const { login } = person();
	const { answer, cookie } = await signInBy(login);
	const replayed = await openCookieClient(app).call('POST', FINISH, answer, { cookie });
	assertRefused(replayed, 401, 'unauthorized');
	assert.equal(sentenceOf(replayed), USED);

	const both = await begin();
	const two = await issuer.authenticate(both.url, login);
	const send = () => openCookieClient(app).call('POST', FINISH, two, { cookie: both.cookie });
	const statuses = (await Promise.all([send(), send()])).map(({ status }) => status);
	assert.deepEqual(statuses.toSorted(), [201, 401]);

	const stolen = await issuer.authenticate((await begin()).url, login);
	for (const code of [answer.code, stolen.code]) {
		const { browser, url, cookie } = await begin();
		const state = new URL(url).searchParams.get('state');
		const injected = await browser.call('POST', FINISH, { state, code, iss: issuer.url }, { cookie });
		assertRefused(injected, 401, 'unauthorized', 'the code was used, or belongs to another verifier');
		assert.equal(sentenceOf(injected), USED);
	}
});

test('a sign-in expires after ten minutes', async () => {
	const { login } = person();
	const { browser, url, cookie } = await begin();
	const answer = await issuer.authenticate(url, login);
	clock.advance(601_000);
	assert.equal(sentenceOf(await browser.call('POST', FINISH, answer, { cookie })), LATE);
	clock.advance(-601_000);
	assert.equal((await browser.call('POST', FINISH, answer, { cookie })).status, 201);
});

test('an ID token with another nonce is refused', async () => {
	const { login } = person();
	const { browser, url, cookie } = await begin();
	const changed = new URL(url);
	changed.searchParams.set('nonce', 'of-another-sign-in');
	const answer = await issuer.authenticate(changed.href, login);
	const refused = await browser.call('POST', FINISH, answer, { cookie });
	assertRefused(refused, 403, 'sign_in_refused');
	assert.equal(sentenceOf(refused), FOREIGN);
	assert.equal(browser.cookie, null);
});

test('an answer that names another issuer, or none, is refused', async () => {
	const { login } = person();
	for (const change of [{ iss: 'https://login.attacker.example' }, { iss: undefined }]) {
		const { browser, url, cookie } = await begin();
		const answer = { ...(await issuer.authenticate(url, login)), ...change };
		const refused = await browser.call('POST', FINISH, answer, { cookie });
		assertRefused(refused, 403, 'sign_in_refused', JSON.stringify(change));
		assert.equal(sentenceOf(refused), FOREIGN);
	}
});

test('people without a verified e-mail address or without a role are refused, with a sentence and no account', async () => {
	const cases: Array<[IssuerPerson, string]> = [
		[{ email_verified: false }, UNVERIFIED],
		[{ email: 'not an address' }, UNVERIFIED],
		[{ groups: [] }, NO_ROLE],
		[{ groups: ['others', 'STAFF'] }, NO_ROLE],
	];
	for (const [given, sentence] of cases) {
		const { login, email } = person(given);
		const { browser, finished } = await signInBy(login);
		assertRefused(finished, 403, 'sign_in_refused', JSON.stringify(given));
		assert.equal(sentenceOf(finished), sentence);
		assert.deepEqual([browser.cookie, await usersOf(email)], [null, []]);
	}
});

test('an existing person is found by the verified e-mail address once, and by the subject from then on', async () => {
	const { login, email } = person({ email: 'Linked@Login.example' });
	const id = await addUser(app, 'linked@login.example', 'member');
	const byPassword = await signIn('linked@login.example');
	const { finished } = await signInBy(login);
	assert.equal(finished.body.user.id, id);
	assert.equal((await byPassword.call('GET', SESSION)).status, 200, 'the same role ends no session');
	const impostor = person({ email: 'linked@login.example' });
	const refused = (await signInBy(impostor.login)).finished;
	assertRefused(refused, 403, 'sign_in_refused');
	assert.equal(sentenceOf(refused), 'Your e-mail address belongs to the account of another identity.');
	assert.equal((await signInBy(login)).finished.body.user.id, id);
	assert.deepEqual(await usersOf(email), []);
});

test('an address that only looks like that of a person does not get the account', async () => {
	await addUser(app, 'mike@login.example', 'member');
	const { login } = person({ email: 'mi\u212ae@login.example' });
	assertRefused((await signInBy(login)).finished, 403, 'sign_in_refused');
	assert.equal((await usersOf('mike@login.example'))[0].has_oidc, false);
});

test('two first sign-ins of one person at once make one account', async () => {
	const { login, email } = person();
	const results = await Promise.all([signInBy(login), signInBy(login), signInBy(login)]);
	assert.deepEqual(
		results.map(({ finished }) => finished.status),
		[201, 201, 201],
	);
	assert.equal((await usersOf(email)).length, 1);
});

test('each sign-in sets the role, the most powerful of several, and a new one ends the other sessions', async () => {
	const { login } = person({ groups: ['staff', 'admins', 'cn=support,dc=example'] });
	const first = await signInBy(login);
	assert.equal(first.finished.body.user.role, 'admin');
	issuer.people.set(login, { ...issuer.people.get(login), groups: ['cn=support,dc=example'] });
	assert.equal((await first.browser.call('GET', SESSION)).body.user.role, 'admin', 'until the next sign-in');
	const second = await signInBy(login);
	assert.equal(second.finished.body.user.role, 'agent');
	assert.equal((await first.browser.call('GET', SESSION)).status, 401);
	assert.equal((await second.browser.call('GET', SESSION)).status, 200);
	issuer.people.set(login, { ...issuer.people.get(login), groups: [] });
	assert.equal(sentenceOf((await signInBy(login)).finished), NO_ROLE);
	assert.equal((await second.browser.call('GET', SESSION)).status, 401, 'without a role, all sessions end');
});

test('the last active owner stays owner, others do not', async () => {
	const { login } = person({ groups: ['bosses'] });
	const boss = await signInBy(login);
	assert.equal(boss.finished.body.user.role, 'owner');
	const { id } = (await owner.call('GET', SESSION)).body.user;
	assert.equal((await boss.browser.call('PATCH', `/api/v1/users/${id}`, { status: 'deactivated' })).status, 200);
	issuer.people.set(login, { ...issuer.people.get(login), groups: ['staff'] });
	assert.equal((await signInBy(login)).finished.body.user.role, 'owner');
	assert.equal((await app.call('PATCH', `/api/v1/users/${id}`, { status: 'active' })).status, 200);
	assert.equal((await signInBy(login)).finished.body.user.role, 'member');
	await owner.call('POST', SESSION, { email: OWNER, password: PASSWORD });
});

test('deactivated people stay out, also where the issuer still knows them', async () => {
	const { login } = person();
	const { browser, finished } = await signInBy(login);
	const { id } = finished.body.user;
	assert.equal((await app.call('PATCH', `/api/v1/users/${id}`, { status: 'deactivated' })).status, 200);
	assert.equal((await browser.call('GET', SESSION)).status, 401);
	assertRefused((await signInBy(login)).finished, 403, 'account_deactivated');
	assert.equal((await app.call('PATCH', `/api/v1/users/${id}`, { status: 'active' })).status, 200);
	assert.equal((await signInBy(login)).finished.status, 201);
});

test('a session ends with the sign-out, and twelve hours after the sign-in, however much it is used', async () => {
	const { login } = person();
	const left = (await signInBy(login)).browser;
	assert.equal((await left.call('DELETE', SESSION)).status, 200);
	assert.deepEqual([left.cookie, (await left.call('GET', SESSION)).status], [null, 401]);
	const { browser, finished } = await signInBy(login);
	assert.equal(Date.parse(finished.body.expires_at), clock.now() + 12 * 3_600_000);
	clock.advance(11 * 3_600_000);
	assert.equal((await browser.call('GET', SESSION)).status, 200);
	const [{ last_used_at, created_at }] = (await browser.call('GET', '/api/v1/sessions')).body.data;
	assert.equal(last_used_at, created_at);
	clock.advance(2 * 3_600_000);
	assert.equal((await browser.call('GET', SESSION)).status, 401);
	clock.advance(-13 * 3_600_000);
});

test('a workspace that requires a second factor requires none of people whom the issuer has authenticated', async (t) => {
	const { login } = person();
	assert.equal((await app.call('PATCH', '/api/v1/workspace', { require_totp: true })).status, 200);
	t.after(() => app.call('PATCH', '/api/v1/workspace', { require_totp: false }));
	const { browser, finished } = await signInBy(login);
	assert.equal(finished.body.needs_totp_setup, false);
	assert.equal((await browser.call('GET', '/api/v1/assistants')).status, 200);
});

test('an error of the issuer is a sentence that shows nothing of its description', async () => {
	const { browser, url, cookie } = await begin();
	const state = new URL(url).searchParams.get('state');
	const answer = { state, iss: issuer.url, error: 'access_denied', error_description: 'Call 0800 555 now' };
	const refused = await browser.call('POST', FINISH, answer, { cookie });
	assertRefused(refused, 403, 'sign_in_refused');
	assert.equal(sentenceOf(refused), 'The identity provider has refused the sign-in (access_denied).');
	const other = await begin();
	const odd = { state: new URL(other.url).searchParams.get('state'), iss: issuer.url, error: '<b>Call</b>' };
	const oddly = await other.browser.call('POST', FINISH, odd, { cookie: other.cookie });
	assert.equal(sentenceOf(oddly), 'The identity provider has refused the sign-in (error).');
});

/** What the audit log says about an account: the actions with the fields, the oldest first. */
async function recordsOf(id: string): Promise<string[]> {
	const { data } = (await app.call('GET', `/api/v1/audit-log?actor=${id}&limit=100`)).body;
	return data
		.filter(({ resource }: { resource: { id: string } }) => resource.id === id)
		.map(({ action, fields }: { action: string; fields: string[] }) => [action, ...fields].join(' '))
		.toReversed();
}

test('the audit log has the account that a sign-in makes, and each new role, with the person as the actor', async () => {
	const { login, email } = person();
	const { id } = (await signInBy(login)).finished.body.user;
	const created = ['createUser email name role has_oidc'];
	assert.deepEqual(await recordsOf(id), created);
	const [record] = (await app.call('GET', `/api/v1/audit-log?resource=${id}`)).body.data;
	assert.deepEqual(
		[record.actor, record.resource, record.details, record.path],
		[{ type: 'user', id, name: 'Ada' }, { type: 'user', id, name: 'Ada' }, null, FINISH],
	);
	assert.ok(!JSON.stringify(record).includes(email));
	await signInBy(login);
	assert.deepEqual(await recordsOf(id), created, 'a sign-in that changes nothing');
	clock.advance(1);
	issuer.people.set(login, { ...issuer.people.get(login), groups: ['bosses'] });
	assert.equal((await signInBy(login)).finished.body.user.role, 'owner');
	assert.deepEqual(await recordsOf(id), [...created, 'updateUser role']);
});

test('the audit log has the link of an account to an identity, and a new role beside it', async () => {
	for (const [role, expected] of [
		['member', 'updateUser has_oidc'],
		['viewer', 'updateUser role has_oidc'],
	] as const) {
		const { login, email } = person();
		const id = await addUser(app, email, role);
		const before = await recordsOf(id);
		clock.advance(1);
		assert.equal((await signInBy(login)).finished.body.user.id, id);
		assert.deepEqual(await recordsOf(id), [...before, expected]);
	}
});

test('the audit log has the first refused sign-in in an hour of a person who has an account, and none of others', async () => {
	const { login } = person();
	const { browser, finished } = await signInBy(login);
	const { id } = finished.body.user;
	const refuse = async (given: IssuerPerson, code: string, afterMs = 1) => {
		clock.advance(afterMs);
		issuer.people.set(login, { ...issuer.people.get(login), groups: ['staff'], email_verified: true, ...given });
		assertRefused((await signInBy(login)).finished, 403, code);
	};
	await refuse({ groups: [] }, 'sign_in_refused');
	assert.equal((await browser.call('GET', SESSION)).status, 401);
	await refuse({ email_verified: false }, 'sign_in_refused');
	await app.call('PATCH', `/api/v1/users/${id}`, { status: 'deactivated' });
	await refuse({}, 'account_deactivated', 3_600_000);
	const records = await recordsOf(id);
	assert.deepEqual(records.slice(1), ['refuseOidcSignIn', 'refuseOidcSignIn']);

	const refusedOf = async () =>
		(await app.call('GET', '/api/v1/audit-log?action=refuseOidcSignIn&limit=100')).body.data.length;
	const before = await refusedOf();
	assertRefused((await signInBy(person({ groups: [] }).login)).finished, 403, 'sign_in_refused');
	assert.equal(await refusedOf(), before);
});
