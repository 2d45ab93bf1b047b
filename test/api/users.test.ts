import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { SCOPES } from '../../src/contract/index.ts';
import {
	addUser,
	assertRefused,
	OWNER,
	PASSWORD,
	request,
	setPassword,
	startAppWithUsers,
	tokenOf,
} from '../access/people.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';

const people = await startAppWithUsers({ settings: { rate_limit: 0 } });
const { app, signIn } = people;
after(() => people[Symbol.asyncDispose]());

const USERS = '/api/v1/users';
const SESSION = '/api/v1/session';

let made = 0;
/** An unused email. */
const fresh = () => `user${++made}@example.com`;

async function ownerId(): Promise<string> {
	return (await app.call('GET', `${USERS}?role=owner&order=asc`)).body.data[0].id;
}

test('the first start creates an owner; a new user is a member and gets one link for a day', async () => {
	const list = await app.call('GET', `${USERS}?role=owner`);
	assert.deepEqual(
		list.body.data.map(({ email, role, has_password }: Record<string, unknown>) => [email, role, has_password]),
		[[OWNER, 'owner', true]],
	);
	const { status, headers, body } = await app.call('POST', USERS, { email: 'Grace.Hopper@Example.com' });
	assert.equal(status, 201);
	assert.equal(headers.get('etag'), '"1"');
	const { id, created_at, updated_at, password_link, password_link_expires_at, ...rest } = body;
	assert.match(id, /^user_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.deepEqual(rest, {
		email: 'grace.hopper@example.com',
		name: 'grace.hopper',
		role: 'member',
		has_password: false,
		status: 'active',
		has_oidc: false,
		has_totp: false,
	});
	assert.match(password_link, new RegExp(`^${app.url}/set-password#[\\w-]{43}$`));
	assert.equal(Date.parse(password_link_expires_at) - Date.parse(created_at), 24 * 3_600_000);
	const read = await app.call('GET', `${USERS}/${id}`);
	assert.deepEqual(read.body, { id, ...rest, created_at, updated_at });
	assert.ok(!JSON.stringify((await app.call('GET', USERS)).body).includes('password_link'));
});

test('the link sets a password once; the user then signs in, and a newer link does not change that', async () => {
	const email = fresh();
	const { body: user } = await app.call('POST', USERS, { email, name: 'Grace' });
	const token = tokenOf(user.password_link);
	const set = (password: string, used = token) =>
		request(app.url, 'POST', `${SESSION}/password`, { token: used, password });
	for (const password of ['', 'too short', 'x'.repeat(201)]) {
		const refused = await set(password);
		assertRefused(refused, 400, 'invalid_request');
		assert.equal(refused.body.error.details[0].path, '/password');
	}
	const response = await set(PASSWORD);
	assert.deepEqual(
		[response.status, response.body.user.email, response.body.user.has_password, response.body.workspace.name],
		[200, email, true, 'Default workspace'],
	);
	// The browser becomes a known device of the user, but the link does not sign in.
	assert.match(response.headers.get('set-cookie') ?? '', /^parley_device=[^;]+;(?!.*parley_session)/);
	assertRefused(await set(PASSWORD), 400, 'invalid_request');
	for (const wrong of ['x', 'A'.repeat(43), user.id]) {
		const refused = await set(PASSWORD, wrong);
		assertRefused(refused, 400, 'invalid_request');
		assert.equal(refused.body.error.details[0].path, '/token');
	}
	await signIn(email);
	const link = await app.call('POST', `${USERS}/${user.id}/password-link`);
	assert.deepEqual([link.status, link.body.id, link.body.has_password], [200, user.id, true]);
	assert.notEqual(link.body.password_link, user.password_link);
	await signIn(email);
	await setPassword(app, tokenOf(link.body.password_link), 'another four ducks');
	await signIn(email, 'another four ducks');
});

test('an email is one user per workspace in any case, and may be another user in another workspace', async () => {
	const email = fresh();
	assert.equal((await app.call('POST', USERS, { email })).status, 201);
	const taken = await app.call('POST', USERS, { email: email.toUpperCase() });
	assertRefused(taken, 400, 'invalid_request');
	assert.equal(taken.body.error.details[0].path, '/email');
	const { body: other } = await app.call('POST', USERS, { email: fresh() });
	const renamed = await app.call('PATCH', `${USERS}/${other.id}`, { email });
	assertRefused(renamed, 400, 'invalid_request');
	assert.equal(renamed.body.error.details[0].path, '/email');
	assert.equal((await app.call('PATCH', `${USERS}/${other.id}`, { email: other.email.toUpperCase() })).status, 200);

	await using store = await openStoreDirectly(app);
	const { key } = await addWorkspace(store);
	const there = await app.call('POST', USERS, { email }, { authorization: `Bearer ${key}` });
	assert.equal(there.status, 201);
	assertRefused(await app.call('GET', `${USERS}/${there.body.id}`), 404, 'not_found');
	for (const [method, path, body] of [
		['PATCH', '', { name: 'Mine' }],
		['POST', '/password-link', undefined],
		['DELETE', '', undefined],
	] as const) {
		assertRefused(await app.call(method, `${USERS}/${there.body.id}${path}`, body), 404, 'not_found', method);
	}
});

test('rejects an invalid email, role or name and names the field', async () => {
	const wrong: Array<[body: object, place: string]> = [
		[{}, '/email'],
		[{ email: 'ada' }, '/email'],
		[{ email: 'ada@' }, '/email'],
		[{ email: '@example.com' }, '/email'],
		[{ email: 'ada @example.com' }, '/email'],
		[{ email: 'ada@example.com\n' }, '/email'],
		[{ email: 'ada@b@c' }, '/email'],
		[{ email: `${'a'.repeat(250)}@x.yz` }, '/email'],
		[{ email: null }, '/email'],
		[{ email: fresh(), role: 'boss' }, '/role'],
		[{ email: fresh(), name: '' }, '/name'],
		[{ email: fresh(), password: PASSWORD }, '/password'],
	];
	for (const [body, place] of wrong) {
		const response = await app.call('POST', USERS, body);
		assertRefused(response, 400, 'invalid_request', JSON.stringify(body));
		assert.equal(response.body.error.details[0].path, place, JSON.stringify(body));
	}
});

test('the last owner cannot be removed or demoted', async () => {
	const id = await ownerId();
	assertRefused(await app.call('DELETE', `${USERS}/${id}`), 400, 'invalid_request');
	const demoted = await app.call('PATCH', `${USERS}/${id}`, { role: 'member' });
	assertRefused(demoted, 400, 'invalid_request');
	assert.equal(demoted.body.error.details[0].path, '/role');
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { role: 'owner', name: 'Boss' })).body.name, 'Boss');
	const second = await addUser(app, fresh(), 'owner');
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { role: 'member' })).status, 200);
	assertRefused(await app.call('DELETE', `${USERS}/${second}`), 400, 'invalid_request');
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { role: 'owner' })).status, 200);
	assert.deepEqual((await app.call('DELETE', `${USERS}/${second}`)).body, { id: second, deleted: true });
	assertRefused(await app.call('GET', `${USERS}/${second}`), 404, 'not_found');
});

test('a deactivated person is signed out, cannot sign in, and can once the account is active again', async () => {
	const email = fresh();
	const id = await addUser(app, email, 'member');
	const browser = await signIn(email);
	const { body: invited } = await app.call('POST', `${USERS}/${id}/password-link`);
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { status: 'deactivated' })).body.status, 'deactivated');
	assertRefused(await browser.call('GET', SESSION), 401, 'unauthorized');
	const credentials = { email, password: PASSWORD };
	assertRefused(await browser.call('POST', SESSION, credentials), 403, 'account_deactivated');
	const guessed = await browser.call('POST', SESSION, { email, password: 'wrong' });
	assertRefused(guessed, 401, 'unauthorized', 'who does not know the password learns nothing');
	const link = { token: tokenOf(invited.password_link), password: PASSWORD };
	assertRefused(await browser.call('POST', `${SESSION}/password`, link), 400, 'invalid_request', 'the link is revoked');
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { status: 'active' })).body.status, 'active');
	await signIn(email);
});

test('the last active owner can be neither deactivated, nor removed beside a deactivated one', async () => {
	const id = await ownerId();
	const refused = await app.call('PATCH', `${USERS}/${id}`, { status: 'deactivated' });
	assertRefused(refused, 400, 'invalid_request');
	assert.equal(refused.body.error.details[0].path, '/status');
	const second = await addUser(app, fresh(), 'owner');
	assert.equal((await app.call('PATCH', `${USERS}/${second}`, { status: 'deactivated' })).status, 200);
	assertRefused(await app.call('DELETE', `${USERS}/${id}`), 400, 'invalid_request');
	assertRefused(await app.call('PATCH', `${USERS}/${id}`, { role: 'admin' }), 400, 'invalid_request');
	assert.equal((await app.call('DELETE', `${USERS}/${second}`)).status, 200);
});

test("a removed user, a new role and a new password end the user's sessions at once", async () => {
	const changes: Array<[what: string, change: (id: string) => Promise<unknown>]> = [
		['removed', (id) => app.call('DELETE', `${USERS}/${id}`)],
		['promoted', (id) => app.call('PATCH', `${USERS}/${id}`, { role: 'owner' })],
		[
			'new password',
			async (id) => {
				const { body } = await app.call('POST', `${USERS}/${id}/password-link`);
				await setPassword(app, tokenOf(body.password_link));
			},
		],
	];
	for (const [what, change] of changes) {
		const email = fresh();
		const id = await addUser(app, email, 'member');
		const [one, two] = [await signIn(email), await signIn(email)];
		assert.equal((await app.call('PATCH', `${USERS}/${id}`, { name: 'Ada' })).status, 200);
		assert.equal((await one.call('GET', SESSION)).body.user.name, 'Ada', 'another name ends no session');
		await change(id);
		for (const browser of [one, two]) assertRefused(await browser.call('GET', SESSION), 401, 'unauthorized', what);
		if (what !== 'removed') await app.call('DELETE', `${USERS}/${id}`);
	}
});

test('an owner who gives up the role keeps the session that did it, and no other', async () => {
	const email = fresh();
	const id = await addUser(app, email, 'owner');
	const [here, elsewhere] = [await signIn(email), await signIn(email)];
	assert.equal((await here.call('PATCH', `${USERS}/${id}`, { role: 'member' })).status, 200);
	assertRefused(await here.call('GET', USERS), 403, 'forbidden');
	assert.equal((await here.call('GET', SESSION)).body.user.role, 'member');
	assertRefused(await elsewhere.call('GET', SESSION), 401, 'unauthorized');
});

test('a key cannot create a user with more scopes than it has', async () => {
	await using store = await openStoreDirectly(app);
	const key = await addKey(store, await firstWorkspace(store), ['settings:read', 'settings:write']);
	const limited = (method: string, path: string, body?: unknown) =>
		app.call(method, path, body, { authorization: `Bearer ${key}` });
	assert.equal((await limited('GET', USERS)).status, 200);
	for (const role of ['owner', 'member']) {
		assertRefused(await limited('POST', USERS, { email: fresh(), role }), 403, 'insufficient_scope', role);
	}
	const link = await limited('POST', `${USERS}/${await ownerId()}/password-link`);
	assertRefused(link, 403, 'insufficient_scope');
});

test('a link that a limited key created for a member is invalid once the member is an owner', async () => {
	await using store = await openStoreDirectly(app);
	const scopes = SCOPES.filter(
		(scope) => scope !== '*' && (scope === 'settings:write' || !scope.startsWith('settings:')),
	);
	const key = await addKey(store, await firstWorkspace(store), scopes);
	const email = fresh();
	const id = await addUser(app, email, 'member');
	const link = await app.call('POST', `${USERS}/${id}/password-link`, undefined, { authorization: `Bearer ${key}` });
	assert.equal(link.status, 200);
	assert.equal((await app.call('PATCH', `${USERS}/${id}`, { role: 'owner' })).body.role, 'owner');
	const given = { token: tokenOf(link.body.password_link), password: 'a password of theirs' };
	assertRefused(await request(app.url, 'POST', `${SESSION}/password`, given), 400, 'invalid_request');
	await signIn(email);
});

test('a link that was sent to a wrong address is invalid once the address is corrected', async () => {
	const { body: user } = await app.call('POST', USERS, { email: fresh(), role: 'owner' });
	const email = fresh();
	assert.equal((await app.call('PATCH', `${USERS}/${user.id}`, { email })).body.email, email);
	const set = (link: string) =>
		request(app.url, 'POST', `${SESSION}/password`, { token: tokenOf(link), password: PASSWORD });
	assertRefused(await set(user.password_link), 400, 'invalid_request');
	const { body } = await app.call('POST', `${USERS}/${user.id}/password-link`);
	assert.equal((await set(body.password_link)).status, 200);
	await signIn(email);
});

test('If-Match binds a change of a user to a version, and If-None-Match saves unchanged reads', async () => {
	const { body: user } = await app.call('POST', USERS, { email: fresh() });
	const read = await app.call('GET', `${USERS}/${user.id}`);
	const etag = read.headers.get('etag') as string;
	assert.equal((await app.call('GET', `${USERS}/${user.id}`, undefined, { 'if-none-match': etag })).status, 304);
	const changed = await app.call('PATCH', `${USERS}/${user.id}`, { name: 'New' }, { 'if-match': etag });
	assert.equal(changed.status, 200);
	for (const [method, body] of [
		['PATCH', { name: 'Newer' }],
		['DELETE', undefined],
	] as const) {
		const stale = await app.call(method, `${USERS}/${user.id}`, body, { 'if-match': etag });
		assertRefused(stale, 412, 'precondition_failed', method);
	}
});

test("links begin with the server's public address", async () => {
	await using proxied = await startTestApp({ settings: { public_url: 'https://chat.example.com' } });
	const { body } = await proxied.call('POST', USERS, { email: fresh() });
	assert.match(body.password_link, /^https:\/\/chat\.example\.com\/set-password#[\w-]{43}$/);
});
