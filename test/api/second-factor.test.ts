import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../src/store/index.ts';
import {
	addUser,
	assertRefused,
	type CookieClient,
	OWNER,
	openCookieClient,
	PASSWORD,
	setPassword,
	startAppWithUsers,
	tokenOf,
} from '../access/people.ts';
import { beginTotp, firstStep, setUpTotp, totpCode } from '../access/totp.ts';
import type { ApiResponse } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { manualWallClock } from '../support/manual-clock.ts';

const clock = manualWallClock();
const people = await startAppWithUsers({ settings: { trusted_proxies: ['127.0.0.1'] }, overrides: { clock } });
const { app, owner, signIn } = people;
after(() => people[Symbol.asyncDispose]());

const SESSION = '/api/v1/session';
const SECOND = `${SESSION}/second-factor`;
const STEP = 30_000;

let addresses = 0;
/** Headers of a client at a new address. */
const somewhere = () => ({ 'x-forwarded-for': `10.9.0.${++addresses}` });

/** A user with a second factor. */
async function userWithTotp(email: string) {
	const id = await addUser(app, email, 'member');
	const browser = await signIn(email);
	const made = await setUpTotp(browser, clock.now());
	clock.advance(2 * STEP);
	return { id, browser, email, ...made };
}

/** The second step of a sign-in from a new address. */
function second(cookie: string, code: string, browser: CookieClient = openCookieClient(app), headers = somewhere()) {
	return browser.call('POST', SECOND, { code }, { cookie, ...headers });
}

test('a code has no effect until it is confirmed; then the password alone does not sign in', async () => {
	const email = 'first@totp.example';
	await addUser(app, email, 'member');
	const browser = await signIn(email);
	const elsewhere = await signIn(email);
	const secret = await beginTotp(browser);
	assert.match(secret, /^[A-Z2-7]{32}$/);
	await signIn(email);
	const wrong = await browser.call('POST', `${SESSION}/totp/confirm`, { code: '000000' });
	assertRefused(wrong, 400, 'invalid_request');
	assert.equal(wrong.body.error.details[0].path, '/code');
	const code = totpCode(secret, clock.now());
	const confirmed = await browser.call('POST', `${SESSION}/totp/confirm`, { code });
	assert.equal(confirmed.status, 200);
	assert.equal(new Set(confirmed.body.recovery_codes).size, 10);
	for (const each of confirmed.body.recovery_codes) assert.match(each, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
	assert.equal((await elsewhere.call('GET', SESSION)).status, 401, 'other sessions end');
	assert.equal((await browser.call('GET', SESSION)).body.user.has_totp, true);

	const fresh = openCookieClient(app);
	const cookie = await firstStep(fresh, email);
	assert.equal(fresh.cookie, null, 'the first step gives no session');
	assertRefused(await second(cookie, code), 401, 'unauthorized', 'the confirmed code was used');
	clock.advance(STEP);
	assert.equal((await second(cookie, totpCode(secret, clock.now()), fresh)).status, 201);
	assert.equal((await fresh.call('GET', SESSION)).status, 200);
});

test('a code is accepted once, also where two requests send it at once, and from a step before or after', async () => {
	const { email, secret } = await userWithTotp('once@totp.example');
	const cookies = await Promise.all(Array.from({ length: 4 }, () => firstStep(openCookieClient(app), email)));
	const code = totpCode(secret, clock.now());
	const answers = await Promise.all(cookies.map((cookie) => second(cookie, code)));
	assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 401, 401, 401]);
	const [cookie = ''] = cookies;
	assertRefused(await second(cookie, totpCode(secret, clock.now() - STEP)), 401, 'unauthorized', 'an older code');
	assertRefused(await second(cookie, totpCode(secret, clock.now() + 2 * STEP)), 401, 'unauthorized', 'too early');
	assert.equal((await second(cookie, totpCode(secret, clock.now() + STEP))).status, 201, 'a clock ahead');
	clock.advance(3 * STEP);
	const next = totpCode(secret, clock.now() - STEP);
	const spaced = `${next.slice(0, 3)} ${next.slice(3)}`;
	assert.equal((await second(cookie, spaced)).status, 201, 'a clock behind, and a space in the code');
});

test('a repeat with the same Idempotency-Key gets the first response, sealed until then; the key is the session’s', async () => {
	const email = 'repeats@totp.example';
	await addUser(app, email, 'member');
	const browser = await signIn(email);
	const key = { 'idempotency-key': 'set up once' };
	const send = (path: string, body: object, from = browser) => from.call('POST', SESSION + path, body, key);
	const password = { current_password: PASSWORD };
	const both = await Promise.all([send('/totp', password), send('/totp', password)]);
	const { secret, uri } = both[0].body;
	assert.deepEqual(both[1].body, { secret, uri }, 'the secret is made once');
	assertRefused(await send('/totp', { current_password: 'another' }), 400, 'idempotency_key_reused');
	const elsewhere = await signIn(email);
	assert.notEqual((await send('/totp', password, elsewhere)).body.secret, secret, 'another session');
	assert.notEqual((await browser.call('POST', `${SESSION}/totp`, password)).body.secret, secret, 'without a key');

	const last = await beginTotp(browser);
	assertRefused(await send('/totp/confirm', { code: '000000' }), 400, 'invalid_request', 'may be tried again');
	const code = { code: totpCode(last, clock.now()) };
	const first = await send('/totp/confirm', code);
	assert.equal(first.headers.get('idempotent-replayed'), null);
	const repeated = await send('/totp/confirm', code);
	assert.deepEqual([repeated.status, repeated.body], [200, first.body]);
	assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
	const db = new Database(databaseFile(app.dataDir), { readonly: true });
	const stored = db.prepare('SELECT group_concat(body) FROM idempotency').pluck().get() as string;
	db.close();
	for (const text of [secret, last, ...first.body.recovery_codes]) assert.ok(!stored.includes(text));

	const removed = await send('/totp/disable', password);
	assert.deepEqual((await send('/totp/disable', password)).body, removed.body);
	const records = (await app.call('GET', `/api/v1/audit-log?resource=${removed.body.id}&limit=100`)).body.data;
	const actions = records.map(({ action }: { action: string }) => action);
	assert.equal(actions.filter((action: string) => action === 'confirmTotp').length, 1, 'recorded once');
	assert.equal(actions.filter((action: string) => action === 'disableTotp').length, 1);
});

test('a recovery code signs in once', async () => {
	const { email, recoveryCodes } = await userWithTotp('recovery@totp.example');
	const [one = '', two = ''] = recoveryCodes;
	const cookie = await firstStep(openCookieClient(app), email);
	assert.equal((await second(cookie, one.toUpperCase())).status, 201);
	assertRefused(await second(cookie, one), 401, 'unauthorized');
	assert.equal((await second(cookie, two.replaceAll('-', ' '))).status, 201);
});

test('wrong codes count as failed sign-ins', async () => {
	const { email, secret, browser } = await userWithTotp('guess@totp.example');
	const cookie = await firstStep(openCookieClient(app), email);
	const here = somewhere();
	for (let guess = 0; guess < 5; guess++)
		assertRefused(await second(cookie, '123456', undefined, here), 401, 'unauthorized');
	const limited = await second(cookie, totpCode(secret, clock.now()), undefined, here);
	assertRefused(limited, 429, 'rate_limit_exceeded');
	assert.ok(Number(limited.headers.get('retry-after')) > 0);
	for (let guess = 0; guess < 15; guess++) assertRefused(await second(cookie, '123456'), 401, 'unauthorized');
	assertRefused(await second(cookie, '123456'), 429, 'rate_limit_exceeded', 'twenty failures of the account');
	assert.equal((await browser.call('GET', SESSION)).status, 200);
	clock.advance(3_600_000);
});

/** The device cookie that a response sets, as a header. */
function deviceIn(answer: ApiResponse): string {
	const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('parley_device='));
	return cookie?.split(';')[0] ?? assert.fail('no device cookie');
}

/** Signs in with the password from a new address, and returns the device cookie. */
async function deviceOf(email: string): Promise<string> {
	return deviceIn(await openCookieClient(app).call('POST', SESSION, { email, password: PASSWORD }, somewhere()));
}

async function guessCodesFromEverywhere(cookie: string): Promise<void> {
	for (let guess = 0; guess < 20; guess++) assertRefused(await second(cookie, '123456'), 401, 'unauthorized');
	assertRefused(await second(cookie, '123456'), 429, 'rate_limit_exceeded');
}

test('a browser that signed in before the setup is no known device for codes; the one of the setup is', async () => {
	const email = 'devices@totp.example';
	await addUser(app, email, 'member');
	const former = await deviceOf(email);
	const browser = await signIn(email);
	const secret = await beginTotp(browser);
	const code = totpCode(secret, clock.now());
	const device = deviceIn(await browser.call('POST', `${SESSION}/totp/confirm`, { code }));
	clock.advance(2 * STEP);
	const cookie = await firstStep(openCookieClient(app), email);
	await guessCodesFromEverywhere(cookie);
	const right = totpCode(secret, clock.now());
	assertRefused(await second(`${cookie}; ${former}`, right), 429, 'rate_limit_exceeded');
	const signedIn = await second(`${cookie}; ${device}`, right);
	assert.equal(signedIn.status, 201);
	const current = { cookie: `parley_session=${browser.cookie}; ${device}` };
	const removed = await browser.call('POST', `${SESSION}/totp/disable`, { current_password: PASSWORD }, current);
	assert.equal(removed.status, 200);
	for (let guess = 0; guess < 20; guess++) {
		const wrong = { email, password: 'wrong' };
		await openCookieClient(app).call('POST', SESSION, wrong, somewhere());
	}
	const own = { cookie: deviceIn(removed), ...somewhere() };
	assert.equal((await openCookieClient(app).call('POST', SESSION, { email, password: PASSWORD }, own)).status, 201);
	clock.advance(3_600_000);
});

test('twenty wrong codes an hour are possible on known devices of an account, which count for no other client', async () => {
	const { email, secret } = await userWithTotp('known@totp.example');
	const deviceAfter = async () => {
		const cookie = await firstStep(openCookieClient(app), email);
		const signedIn = await second(cookie, totpCode(secret, clock.now()));
		assert.equal(signedIn.status, 201);
		clock.advance(STEP);
		return deviceIn(signedIn);
	};
	const devices = [await deviceAfter(), await deviceAfter()];
	const guess = async (device: string | undefined, code = '123456') =>
		second(`${await firstStep(openCookieClient(app), email)}; ${device}`, code);
	for (const device of [...devices, ...devices]) {
		for (let at = 0; at < 5; at++) assertRefused(await guess(device), 401, 'unauthorized');
		clock.advance(60_000);
	}
	for (const device of devices) {
		const refused = await guess(device, totpCode(secret, clock.now()));
		assertRefused(refused, 429, 'rate_limit_exceeded');
		assert.ok(Number(refused.headers.get('retry-after')) > 60);
	}
	const elsewhere = await second(await firstStep(openCookieClient(app), email), totpCode(secret, clock.now()));
	assert.equal(elsewhere.status, 201);
	clock.advance(3_600_000);
	assert.equal((await guess(devices[0], totpCode(secret, clock.now()))).status, 201);
});

test('the first wrong code of an account in an hour is in the audit log', async () => {
	const { id, email, secret } = await userWithTotp('watched@totp.example');
	const refusals = async () =>
		(await app.call('GET', `/api/v1/audit-log?actor=${id}&action=refuseSecondFactor`)).body.data;
	const here = somewhere();
	for (let guess = 0; guess < 3; guess++) {
		const cookie = await firstStep(openCookieClient(app), email);
		assertRefused(await second(cookie, '123456', undefined, here), 401, 'unauthorized');
	}
	const [record, ...more] = await refusals();
	assert.deepEqual(more, []);
	assert.deepEqual([record.resource.id, record.address, record.fields], [id, here['x-forwarded-for'], ['code']]);
	assert.equal(JSON.stringify(record).includes('123456'), false);
	clock.advance(3_600_000);
	const cookie = await firstStep(openCookieClient(app), email);
	assertRefused(await second(cookie, '123456'), 401, 'unauthorized');
	assert.equal((await second(cookie, totpCode(secret, clock.now()))).status, 201);
	assert.equal((await refusals()).length, 2);
});

test('the cookie between the steps serves for five minutes, this password and the second step only', async () => {
	const { email, secret, id } = await userWithTotp('between@totp.example');
	const cookie = await firstStep(openCookieClient(app), email);
	const code = () => totpCode(secret, clock.now());
	const asSession = cookie.replace('parley_sign_in', 'parley_session');
	for (const headers of [{ cookie }, { cookie: asSession }]) {
		assert.equal((await openCookieClient(app).call('GET', SESSION, undefined, headers)).status, 401);
	}
	const expired = { status: 401, message: 'The sign-in has expired. Sign in again.' };
	const refusal = async (given: string) => {
		const { status, body } = await second(given, code());
		return { status, message: body.error.message };
	};
	assert.deepEqual(await refusal('theme=dark'), expired);
	assert.deepEqual(await refusal(`${cookie.slice(0, -2)}AA`), expired);
	assert.deepEqual(await refusal(`parley_sign_in=${'x'.repeat(80)}`), expired);
	const foreign = await second(cookie, code(), undefined, { ...somewhere(), origin: 'https://other.example' } as never);
	assertRefused(foreign, 403, 'csrf_failed');
	clock.advance(299_000);
	assert.equal((await second(cookie, code())).status, 201);
	clock.advance(2_000);
	assert.deepEqual(await refusal(cookie), expired);
	const later = await firstStep(openCookieClient(app), email);
	const link = await app.call('POST', `/api/v1/users/${id}/password-link`);
	await setPassword(app, tokenOf(link.body.password_link), 'quite another password');
	assert.deepEqual(await refusal(later), expired);
});

test('a user removes the second factor with the password, and sets up only one', async () => {
	const { browser, email } = await userWithTotp('remove@totp.example');
	const begin = { current_password: PASSWORD };
	assertRefused(await browser.call('POST', `${SESSION}/totp`, begin), 400, 'invalid_request');
	assertRefused(await browser.call('POST', `${SESSION}/totp/confirm`, { code: '123456' }), 400, 'invalid_request');
	for (const path of ['/totp', '/totp/disable']) {
		const refused = await browser.call('POST', SESSION + path, { current_password: 'wrong' }, somewhere());
		assertRefused(refused, 400, 'invalid_request');
		assert.equal(refused.body.error.details[0].path, '/current_password');
	}
	const removed = await browser.call('POST', `${SESSION}/totp/disable`, begin);
	assert.deepEqual([removed.status, removed.body.has_totp], [200, false]);
	await signIn(email);
});

test('owners and admins remove the second factor of a person who has lost it, which is recorded', async () => {
	const { id, browser, email } = await userWithTotp('lost@totp.example');
	await addUser(app, 'admin@totp.example', 'admin');
	const admin = await signIn('admin@totp.example');
	const { user } = (await owner.call('GET', SESSION)).body;
	assertRefused(await admin.call('POST', `/api/v1/users/${user.id}/reset-totp`), 403, 'insufficient_scope');
	assertRefused(await browser.call('POST', `/api/v1/users/${id}/reset-totp`), 403, 'forbidden');
	const reset = await admin.call('POST', `/api/v1/users/${id}/reset-totp`);
	assert.deepEqual([reset.status, reset.body.has_totp], [200, false]);
	assert.equal((await browser.call('GET', SESSION)).status, 401, 'the sessions end');
	await signIn(email);
	const [record] = (await app.call('GET', `/api/v1/audit-log?resource=${id}&limit=1`)).body.data;
	assert.deepEqual([record.action, record.actor.name], ['resetUserTotp', 'admin']);
});

test('a session removes its own second factor, and replaces its own password, with the password only', async () => {
	await addUser(app, 'second-owner@totp.example', 'owner');
	await addUser(app, 'second-admin@totp.example', 'admin');
	for (const email of ['second-owner@totp.example', 'second-admin@totp.example']) {
		const browser = await signIn(email);
		await setUpTotp(browser, clock.now());
		const { id } = (await browser.call('GET', SESSION)).body.user;
		for (const path of ['reset-totp', 'password-link']) {
			const refused = await browser.call('POST', `/api/v1/users/${id}/${path}`);
			assertRefused(refused, 400, 'invalid_request', path);
			assert.match(refused.body.error.message, /\/api\/v1\/session\/(totp\/disable|account)/);
		}
		assert.equal((await browser.call('GET', SESSION)).body.user.has_totp, true);
	}
});

test('a workspace that requires a second factor lets people without one set it up and use the own account, and nothing else', async (t) => {
	const email = 'required@totp.example';
	await addUser(app, email, 'member');
	const before = await signIn(email);
	const cookie = `parley_session=${before.cookie}`;
	const stream = await fetch(`${app.url}/api/v1/events?stream=true`, { headers: { cookie } });
	assert.equal(stream.status, 200);
	const { browser } = await userWithTotp('ready@totp.example');
	assert.equal((await app.call('PATCH', '/api/v1/workspace', { require_totp: true })).body.require_totp, true);
	t.after(() => app.call('PATCH', '/api/v1/workspace', { require_totp: false }));
	// An open stream ends: otherwise this waits for ever.
	for await (const _ of eventsOf(stream));
	assert.equal((await browser.call('GET', '/api/v1/assistants')).status, 200);
	assert.equal((await app.call('GET', '/api/v1/assistants')).status, 200, 'keys are not concerned');
	for (const person of [before, await signIn(email)]) {
		for (const path of ['/api/v1/assistants', '/api/v1/models', '/api/v1/events?stream=true', '/metrics']) {
			assertRefused(await person.call('GET', path), 403, 'second_factor_setup_required', path);
		}
		assert.equal((await person.call('GET', SESSION)).body.needs_totp_setup, true);
		assert.equal((await person.call('PATCH', `${SESSION}/account`, { name: 'Renamed' })).body.name, 'Renamed');
		const { data } = (await person.call('GET', '/api/v1/sessions')).body;
		assert.ok(data.some((each: { is_current: boolean }) => each.is_current));
	}
	const third = await signIn(email);
	assert.deepEqual((await before.call('DELETE', '/api/v1/sessions')).body, { ended: 2 });
	assert.equal((await third.call('GET', SESSION)).status, 401);
	await setUpTotp(before, clock.now());
	assert.equal((await before.call('GET', SESSION)).body.needs_totp_setup, false);
	assert.equal((await before.call('GET', '/api/v1/assistants')).status, 200);
});

test('neither secrets nor recovery codes are in the database as they are, nor in the audit log', async () => {
	const { secret, recoveryCodes, email } = await userWithTotp('stored@totp.example');
	const db = new Database(databaseFile(app.dataDir), { readonly: true });
	const stored = db.prepare('SELECT totp FROM users WHERE email = ?').pluck().get(email) as string;
	const log = JSON.stringify(db.prepare('SELECT * FROM audit_log').all());
	db.close();
	assert.match(JSON.parse(stored).secret, /^v1\./);
	assert.equal(JSON.parse(stored).recovery_hashes.length, 10);
	for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
		assert.equal(stored.includes(text), false);
		assert.equal(log.includes(text), false);
	}
	assert.notEqual(email, OWNER);
});
