import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { addUser, assertRefused, type CookieClient, PASSWORD, startAppWithUsers } from '../access/people.ts';

const people = await startAppWithUsers({ settings: { rate_limit: 0 } });
const { app, signIn } = people;
after(() => people[Symbol.asyncDispose]());

const ACCOUNT = '/api/v1/session/account';
const SESSION = '/api/v1/session';
const SESSIONS = '/api/v1/sessions';
const NEW_PASSWORD = 'five geese on a lake';

let made = 0;
/** A member, signed in. */
async function newMember(): Promise<{ email: string; browser: CookieClient }> {
	const email = `member${++made}@example.com`;
	await addUser(app, email, 'member');
	return { email, browser: await signIn(email) };
}

const idOf = async (browser: CookieClient): Promise<string> => (await browser.call('GET', SESSION)).body.id;

test('users list their own sessions, and end one of them or all others', async () => {
	const { email, browser } = await newMember();
	const [second, third] = [await signIn(email), await signIn(email)];
	const other = await newMember();
	const { status, body } = await browser.call('GET', SESSIONS);
	assert.equal(status, 200);
	assert.equal(body.next_cursor, null);
	const ids = [await idOf(third), await idOf(second), await idOf(browser)];
	assert.deepEqual(
		body.data.map(({ id, is_current }: { id: string; is_current: boolean }) => [id, is_current]),
		ids.map((id, at) => [id, at === 2]),
	);
	for (const { user_agent, created_at, last_used_at } of body.data) {
		assert.equal(user_agent, 'node');
		assert.equal(last_used_at, created_at);
	}
	assert.ok(!JSON.stringify(body).includes(browser.cookie as string));

	assertRefused(await browser.call('DELETE', `${SESSIONS}/${await idOf(other.browser)}`), 404, 'not_found');
	assert.deepEqual((await browser.call('DELETE', `${SESSIONS}/${ids[0]}`)).body, { id: ids[0], deleted: true });
	assert.equal((await third.call('GET', SESSION)).status, 401);
	assert.deepEqual((await browser.call('DELETE', SESSIONS)).body, { ended: 1 });
	assert.equal((await second.call('GET', SESSION)).status, 401);
	assert.deepEqual((await browser.call('DELETE', SESSIONS)).body, { ended: 0 });
	assert.equal((await browser.call('GET', SESSION)).status, 200);
	assert.equal((await other.browser.call('GET', SESSION)).status, 200);
});

test('a key has no account, and another website cannot change one', async () => {
	assertRefused(await app.call('GET', SESSIONS), 401, 'unauthorized');
	assertRefused(await app.call('PATCH', ACCOUNT, { name: 'Key' }), 401, 'unauthorized');
	const { browser } = await newMember();
	const foreign = { origin: 'https://evil.example' };
	assertRefused(await browser.call('PATCH', ACCOUNT, { name: 'Mine' }, foreign), 403, 'csrf_failed');
	assertRefused(await browser.call('DELETE', SESSIONS, undefined, foreign), 403, 'csrf_failed');
});

test('users change their names without the password, and no other field', async () => {
	const { browser } = await newMember();
	assert.equal((await browser.call('PATCH', ACCOUNT, { name: 'Lea' })).body.name, 'Lea');
	assert.equal((await browser.call('GET', SESSION)).body.user.name, 'Lea');
	for (const body of [{ role: 'owner' }, { email: 'x@example.com' }, { name: '' }]) {
		assertRefused(await browser.call('PATCH', ACCOUNT, body), 400, 'invalid_request', JSON.stringify(body));
	}
});

test('a new password needs the present one, and signs the user out elsewhere', async () => {
	const { email, browser } = await newMember();
	const elsewhere = await signIn(email);
	for (const [body, path] of [
		[{ password: NEW_PASSWORD }, '/current_password'],
		[{ password: NEW_PASSWORD, current_password: 'wrong' }, '/current_password'],
		[{ password: 'short', current_password: PASSWORD }, '/password'],
	] as const) {
		const refused = await browser.call('PATCH', ACCOUNT, body);
		assertRefused(refused, 400, 'invalid_request', JSON.stringify(body));
		assert.equal(refused.body.error.details[0].path, path);
	}
	const link = await app.call(
		'POST',
		`/api/v1/users/${(await browser.call('GET', SESSION)).body.user.id}/password-link`,
	);
	const changed = await browser.call('PATCH', ACCOUNT, { password: NEW_PASSWORD, current_password: PASSWORD });
	assert.equal(changed.status, 200, JSON.stringify(changed.body));
	assert.match(changed.headers.getSetCookie().join(), /parley_device=/);
	assert.equal((await browser.call('GET', SESSION)).status, 200);
	assert.equal((await elsewhere.call('GET', SESSION)).status, 401);
	const token = new URL(link.body.password_link).hash.slice(1);
	const late = await browser.call('POST', `${SESSION}/password`, { token, password: PASSWORD });
	assertRefused(late, 400, 'invalid_request');
	await signIn(email, NEW_PASSWORD);
	assertRefused(await browser.call('POST', SESSION, { email, password: PASSWORD }), 401, 'unauthorized');
});

test('wrong present passwords are limited as sign-ins are', async () => {
	await using limited = await startAppWithUsers({ settings: { rate_limit: 0 } });
	const guess = () =>
		limited.owner.call('PATCH', ACCOUNT, { password: NEW_PASSWORD, current_password: 'a guess of the thief' });
	for (let attempt = 0; attempt < 5; attempt++) assertRefused(await guess(), 400, 'invalid_request');
	const refused = await guess();
	assertRefused(refused, 429, 'rate_limit_exceeded');
	assert.ok(Number(refused.headers.get('retry-after')) > 0);
	assert.equal((await limited.owner.call('PATCH', ACCOUNT, { name: 'Still possible' })).status, 200);
});
