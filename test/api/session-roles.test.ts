import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Operation, operations, ROLES, type Role } from '../../src/contract/index.ts';
import { addUser, assertRefused, type CookieClient, startAppWithUsers, tokenOf } from '../access/people.ts';

const people = await startAppWithUsers();
const { app, signIn, owner } = people;
after(() => people[Symbol.asyncDispose]());

const keyed = Object.entries<Operation>(operations).filter(([, { access }]) => access.kind === 'key');

/** Calls an operation on resources that do not exist, so that it has no effect. */
async function outcome(browser: CookieClient, { method, path, body, multipart }: Operation) {
	const nowhere = path.replaceAll(/\{\w+\}/g, 'none');
	return browser.call(method, nowhere, body || multipart ? { no_such_field: true } : undefined);
}

const USERS = '/api/v1/users';

/**
 * Who may call which operation, by method and path: the first rule that matches decides. Written apart from the scopes of the
 * contract. A new operation below a path that no rule knows fails the test until its rule is decided here.
 */
const EVERYBODY = 'owner admin member agent viewer';
const RULES: readonly (readonly [request: RegExp, roles: string])[] = [
	[/^GET \/api\/v1\/(users|api-keys|workspace|audit-log)/, 'owner admin'],
	[/^\w+ \/api\/v1\/(users|api-keys|workspace)/, 'owner admin'],
	[/^GET \/api\/v1\/(assistants|knowledge-bases|deployments|conversations|messages|canned-replies)/, EVERYBODY],
	[/^POST \/api\/v1\/deployments\/\{id\}\/check-/, EVERYBODY],
	[/^POST \/api\/v1\/stats\/unanswered/, 'owner admin member agent'],
	[/^GET \/api\/v1\/(webhooks|events|models|stats)/, EVERYBODY],
	[/^GET \/api\/v1\/(inbox|costs|erasures|end-users)/, EVERYBODY],
	[/^POST \/api\/v1\/(inbox|conversations\/\{id\})\/read$/, EVERYBODY],
	[/^GET \/api\/v1\/tools/, 'owner admin member viewer'],
	[/^POST \/api\/v1\/knowledge-bases\/\{id\}\/search$/, EVERYBODY],
	[/^\w+ \/api\/v1\/(conversations|messages|canned-replies|erasures)/, 'owner admin member agent'],
	[/^\w+ \/api\/v1\/(assistants|knowledge-bases|deployments|tools|webhooks)/, 'owner admin member'],
];

function rolesOf({ method, path }: Operation): readonly string[] {
	const rule = RULES.find(([request]) => request.test(`${method} ${path}`));
	assert.ok(rule, `decide which roles may call ${method} ${path}`);
	return rule[1].split(' ');
}

/** A browser of a signed-in user of each role. */
async function browsersOfRoles(): Promise<Map<Role, CookieClient>> {
	const browsers = new Map<Role, CookieClient>([['owner', owner]]);
	for (const role of ROLES.slice(1)) {
		await addUser(app, `${role}@example.com`, role);
		browsers.set(role, await signIn(`${role}@example.com`));
	}
	return browsers;
}

const browsers = await browsersOfRoles();

test('each role may call the operations of its row in the table, and no others', async () => {
	assert.ok(keyed.length > 40);
	for (const [id, operation] of keyed) {
		const allowed = rolesOf(operation);
		for (const [role, browser] of browsers) {
			const { status, body } = await outcome(browser, operation);
			const what = `${role} ${id}: ${status} ${JSON.stringify(body)}`;
			if (allowed.includes(role)) assert.ok(status !== 401 && status !== 403, what);
			else assert.deepEqual([status, body?.error?.code], [403, 'forbidden'], what);
		}
	}
});

test('a session says what its role permits', async () => {
	for (const [role, browser] of browsers) {
		const { user, scopes } = (await browser.call('GET', '/api/v1/session')).body;
		assert.equal(user.role, role);
		assert.equal(scopes.includes('*'), role === 'owner');
		assert.equal(scopes.includes('settings:write'), role === 'admin');
		assert.equal(scopes.includes('conversations:write'), ['admin', 'member', 'agent'].includes(role));
	}
});

test('an admin manages people of every role but owners', async () => {
	const admin = browsers.get('admin') as CookieClient;
	const second = await addUser(app, 'second@example.com', 'owner');
	for (const [method, path, body] of [
		['POST', USERS, { email: 'third@example.com', role: 'owner' }],
		['PATCH', `${USERS}/${second}`, { role: 'member' }],
		['PATCH', `${USERS}/${second}`, { email: 'mine@example.com' }],
		['POST', `${USERS}/${second}/password-link`, undefined],
		['DELETE', `${USERS}/${second}`, undefined],
		['POST', '/api/v1/api-keys', { scopes: ['*'] }],
	] as const) {
		assertRefused(await admin.call(method, path, body), 403, 'insufficient_scope', `${method} ${path}`);
	}
	for (const role of ROLES.slice(1)) {
		const made = await admin.call('POST', USERS, { email: `by-admin-${role}@example.com`, role });
		assert.deepEqual([made.status, made.body.role], [201, role]);
		assert.ok(tokenOf(made.body.password_link).length > 20);
		const path = `${USERS}/${made.body.id}`;
		assertRefused(await admin.call('PATCH', path, { role: 'owner' }), 403, 'insufficient_scope', role);
		assert.equal((await admin.call('PATCH', path, { role: 'viewer' })).status, 200);
		assert.equal((await admin.call('DELETE', path)).status, 200);
	}
	assert.equal((await owner.call('PATCH', `${USERS}/${second}`, { role: 'admin' })).status, 200);
	assert.equal((await admin.call('DELETE', `${USERS}/${second}`)).status, 200);
});

test('rejects each of the operations without a credential', async () => {
	const nobody: CookieClient = { cookie: null, call: (method, path, body) => app.callAsVisitor(method, path, body) };
	for (const [id, operation] of keyed) {
		const { status, body } = await outcome(nobody, operation);
		assert.deepEqual([status, body.error.code], [401, 'unauthorized'], id);
	}
});
