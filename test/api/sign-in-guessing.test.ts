import assert from 'node:assert/strict';
import test, { after } from 'node:test';
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
import type { ApiResponse } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { addWorkspace, openStoreDirectly } from './direct-store.ts';

const clock = manualWallClock();
const people = await startAppWithUsers({ settings: { trusted_proxies: ['127.0.0.1'] }, overrides: { clock } });
const { app } = people;
after(() => people[Symbol.asyncDispose]());

const SESSION = '/api/v1/session';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let clients = 0;
/** A new client address. */
const freshAddress = () => `198.18.${Math.floor(++clients / 250)}.${(clients % 250) + 1}`;

interface Attempt {
	password?: string;
	address?: string;
	/** The value of the device cookie. */
	device?: string | undefined;
	workspace_id?: string;
}

/** Tries to sign in through the proxy. */
function attempt(email: string, { password = 'wrong', address = freshAddress(), device, workspace_id }: Attempt) {
	const headers = { origin: app.url, 'x-forwarded-for': address };
	const cookie: Record<string, string> = device === undefined ? {} : { cookie: `parley_device=${device}` };
	return request(app.url, 'POST', SESSION, { email, password, workspace_id }, { ...headers, ...cookie });
}

/** The value of the device cookie that a response sets. */
function deviceIn({ headers }: ApiResponse): string | undefined {
	return headers
		.getSetCookie()
		.map((cookie) => /^parley_device=([^;]*)/.exec(cookie)?.[1])
		.find((value) => value !== undefined);
}

async function deviceOf(email: string, password = PASSWORD): Promise<string> {
	const response = await attempt(email, { password });
	assert.equal(response.status, 201, JSON.stringify(response.body));
	return deviceIn(response) ?? assert.fail('no device cookie');
}

/** Uses up the failures that clients without a device cookie may have on an account. */
async function guessFromEverywhere(email: string): Promise<void> {
	for (let at = 0; at < 20; at++) assertRefused(await attempt(email, {}), 401, 'unauthorized', `guess ${at}`);
}

let made = 0;
/** A new account. */
async function account(): Promise<string> {
	const email = `guessed${++made}@example.com`;
	await addUser(app, email, 'member');
	return email;
}

test('guesses from many addresses stop at twenty an hour, and the owner still signs in on a known device', async () => {
	const device = await deviceOf(OWNER);
	await guessFromEverywhere(OWNER);
	for (let at = 0; at < 5; at++) {
		const refused = await attempt(OWNER, {});
		assertRefused(refused, 429, 'rate_limit_exceeded');
		assert.deepEqual([refused.body.error.retry_after, refused.headers.get('retry-after')], [3600, '3600']);
	}
	const right = await attempt(OWNER, { password: PASSWORD });
	assertRefused(right, 429, 'rate_limit_exceeded', 'without the cookie the right password is not checked');
	assert.equal((await attempt(OWNER, { password: PASSWORD, device })).status, 201);
	clock.advance(HOUR);
	assert.equal((await attempt(OWNER, { password: PASSWORD })).status, 201);
});

test('responds to an email without an account as to one with an account', async () => {
	const responses = async (email: string) => {
		const seen: unknown[] = [];
		for (let at = 0; at < 22; at++) {
			const { status, headers, body } = await attempt(email, {});
			seen.push([status, headers.get('retry-after'), headers.getSetCookie(), body.error.code, body.error.message]);
		}
		return seen;
	};
	assert.deepEqual(await responses('nobody@example.com'), await responses(await account()));
});

test('an address has five failures a minute, which do not lock out a known device', async () => {
	const email = await account();
	const device = await deviceOf(email);
	const address = freshAddress();
	for (let at = 0; at < 5; at++)
		assertRefused(await attempt(`nobody${at}@example.com`, { address }), 401, 'unauthorized');
	assertRefused(await attempt(email, { address, password: PASSWORD }), 429, 'rate_limit_exceeded');
	assert.equal((await attempt(email, { address, password: PASSWORD, device })).status, 201);
});

test('a device has its own five failures a minute, which count for no other client', async () => {
	const email = await account();
	const [one, two] = [await deviceOf(email), await deviceOf(email)];
	for (let at = 0; at < 5; at++) assertRefused(await attempt(email, { device: one }), 401, 'unauthorized');
	const refused = await attempt(email, { device: one, password: PASSWORD });
	assertRefused(refused, 429, 'rate_limit_exceeded', 'from whatever address');
	assert.equal(refused.headers.get('retry-after'), '60');
	assert.equal((await attempt(email, { device: two, password: PASSWORD })).status, 201);
	await guessFromEverywhere(email);
	clock.advance(MINUTE);
	assert.equal((await attempt(email, { device: one, password: PASSWORD })).status, 201);
});

test('each sign-in renews the device cookie and keeps the tokens of other users of the browser', async () => {
	const [ada, bob] = [await account(), await account()];
	const first = await deviceOf(ada);
	const both = deviceIn(await attempt(bob, { password: PASSWORD, device: first })) ?? assert.fail();
	const renewed = deviceIn(await attempt(ada, { password: PASSWORD, device: both })) ?? assert.fail();
	assert.equal(renewed.length, both.length, 'one entry for each account');
	assert.ok(!renewed.includes(first));
	await guessFromEverywhere(ada);
	await guessFromEverywhere(bob);
	for (const email of [ada, bob]) {
		assert.equal((await attempt(email, { password: PASSWORD, device: renewed })).status, 201);
	}
});

test('ignores a forged or altered device cookie, and one of another account', async () => {
	const [ada, eve] = [await account(), await account()];
	const [adas, eves] = [await deviceOf(ada), await deviceOf(eve)];
	await guessFromEverywhere(ada);
	const altered = `${adas.startsWith('A') ? 'B' : 'A'}${adas.slice(1)}`;
	const mixed = `${adas.slice(0, 22)}${eves.slice(22)}`;
	for (const device of [eves, altered, mixed, 'A'.repeat(65), '', 'x', `${adas}x`, adas.slice(1), '.'.repeat(5000)]) {
		const response = await attempt(ada, { password: PASSWORD, device });
		assertRefused(response, 429, 'rate_limit_exceeded', device.slice(0, 80));
	}
	assert.equal((await attempt(ada, { password: PASSWORD, device: `${eves}.${adas}` })).status, 201);
});

test('a new password invalidates earlier device cookies, and the link gives the browser a new one', async () => {
	const email = await account();
	const former = await deviceOf(email);
	const { body } = await app.call('GET', '/api/v1/users?limit=100');
	const { id } = body.data.find((user: { email: string }) => user.email === email);
	const link = await app.call('POST', `/api/v1/users/${id}/password-link`);
	await guessFromEverywhere(email);
	assert.equal(
		(await attempt(email, { password: PASSWORD, device: former })).status,
		201,
		'a link alone changes nothing',
	);
	const set = await setPassword(app, tokenOf(link.body.password_link), PASSWORD);
	assertRefused(await attempt(email, { password: PASSWORD, device: former }), 429, 'rate_limit_exceeded');
	assert.equal((await attempt(email, { password: PASSWORD, device: deviceIn(set) })).status, 201);
});

test('an account with the same email in another workspace does not permit unlimited guesses of a password', async () => {
	const email = await account();
	const mine = (await app.call('GET', '/api/v1/workspace')).body.id;
	await using store = await openStoreDirectly(app);
	const { id, key } = await addWorkspace(store);
	const there = { authorization: `Bearer ${key}` };
	const { body } = await app.call('POST', '/api/v1/users', { email, role: 'owner' }, there);
	const elsewhere = deviceIn(await setPassword(app, tokenOf(body.password_link), 'a password elsewhere'));
	await guessFromEverywhere(email);
	for (const workspace_id of [undefined, mine]) {
		const named = workspace_id === undefined ? {} : { workspace_id };
		const response = await attempt(email, { password: PASSWORD, device: elsewhere, ...named });
		assert.ok(response.status === 401 || response.status === 429, `${response.status}`);
	}
	const own = await attempt(email, { password: 'a password elsewhere', device: elsewhere });
	assert.deepEqual([own.status, own.body.workspace?.id], [201, id], 'the cookie is valid for its own account');
});

test('sends the device cookie only to sign-in, for a year, and hides it from scripts', async () => {
	const response = await attempt(await account(), { password: PASSWORD });
	const [cookie] = response.headers.getSetCookie().filter((each) => each.startsWith('parley_device='));
	assert.match(
		cookie ?? '',
		/^parley_device=[\w-]{65}; Path=\/api\/v1\/session; HttpOnly; SameSite=Lax; Max-Age=31536000$/,
	);
});
