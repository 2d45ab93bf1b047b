import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FirstStartSecrets } from '../../src/access/index.ts';
import { startIssuer } from '../access/identity-provider.ts';
import { assertRefused, type CookieClient, OWNER, openCookieClient, PASSWORD, tokenOf } from '../access/people.ts';
import { firstStep, setUpTotp, totpCode } from '../access/totp.ts';
import { startTestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';

const SESSION = '/api/v1/session';
const CREDENTIALS = { email: OWNER, password: PASSWORD };

const issuer = await startIssuer();
after(() => issuer[Symbol.asyncDispose]());
const clock = manualWallClock();
let first: FirstStartSecrets | undefined;
const app = await startTestApp({
	settings: { ...issuer.settings, password_sign_in: false },
	overrides: { clock, onFirstStart: (made) => (first = made) },
});
after(() => app[Symbol.asyncDispose]());

/** Sets the owner's password by a new link, and returns the browser with its cookie. */
async function openLink(token: string) {
	const browser = openCookieClient(app);
	const set = await browser.call('POST', `${SESSION}/password`, { token, password: PASSWORD });
	assert.equal(set.status, 200, JSON.stringify(set.body));
	const permit = set.headers.getSetCookie().find((each) => each.startsWith('parley_password='));
	assert.match(
		permit ?? '',
		/^parley_password=v1\.[\w-]+; Path=\/api\/v1\/session; HttpOnly; SameSite=Lax; Max-Age=900$/,
	);
	return { browser, cookie: permit?.split(';')[0] as string };
}

async function newLink(): Promise<string> {
	const [{ id }] = (await app.call('GET', '/api/v1/users?role=owner')).body.data;
	return tokenOf((await app.call('POST', `/api/v1/users/${id}/password-link`)).body.password_link);
}

test('the link of the first start is the way in; another browser cannot sign in with the password', async () => {
	const { browser, cookie } = await openLink(first?.passwordToken as string);
	const methods = async (headers = {}) =>
		(await openCookieClient(app).call('GET', `${SESSION}/methods`, undefined, headers)).body.password;
	assert.deepEqual([await methods(), await methods({ cookie })], [false, true]);
	const elsewhere = openCookieClient(app);
	assertRefused(await elsewhere.call('POST', SESSION, CREDENTIALS), 403, 'password_sign_in_disabled');
	const wrong = { email: OWNER, password: 'wrong' };
	assertRefused(await elsewhere.call('POST', SESSION, wrong), 403, 'password_sign_in_disabled');
	const forged = { cookie: `${cookie.slice(0, -2)}AA` };
	assertRefused(await elsewhere.call('POST', SESSION, CREDENTIALS, forged), 403, 'password_sign_in_disabled');
	assert.equal((await browser.call('POST', SESSION, CREDENTIALS, { cookie })).status, 201);
	assert.equal((await browser.call('GET', '/api/v1/users')).status, 200);
});

test('the way in ends after a quarter of an hour, and with a newer password', async () => {
	const { browser, cookie } = await openLink(await newLink());
	clock.advance(901_000);
	assertRefused(await browser.call('POST', SESSION, CREDENTIALS, { cookie }), 403, 'password_sign_in_disabled');
	const former = await openLink(await newLink());
	const newer = await openLink(await newLink());
	assertRefused(await browser.call('POST', SESSION, CREDENTIALS, { cookie: former.cookie }), 401, 'unauthorized');
	assert.equal((await browser.call('POST', SESSION, CREDENTIALS, { cookie: newer.cookie })).status, 201);
});

test('only owners have this way, and it serves for their own account', async () => {
	const { body } = await app.call('POST', '/api/v1/users', { email: 'member@off.example', role: 'member' });
	const link = { token: tokenOf(body.password_link), password: PASSWORD };
	const browser = openCookieClient(app);
	assertRefused(await browser.call('POST', `${SESSION}/password`, link), 403, 'password_sign_in_disabled');
	const { cookie } = await openLink(await newLink());
	const other = await browser.call('POST', SESSION, { email: 'member@off.example', password: PASSWORD }, { cookie });
	assertRefused(other, 401, 'unauthorized');
});

test('an owner with a second factor needs it here, too', async () => {
	const { browser, cookie } = await openLink(await newLink());
	await browser.call('POST', SESSION, CREDENTIALS, { cookie });
	const { secret } = await setUpTotp(browser, clock.now());
	clock.advance(60_000);
	const again = await openLink(await newLink());
	const withPermit: CookieClient = {
		cookie: null,
		call: (method, path, body) => again.browser.call(method, path, body, { cookie: again.cookie }),
	};
	const second = await firstStep(withPermit, OWNER);
	const code = { code: totpCode(secret, clock.now()) };
	const done = await again.browser.call('POST', `${SESSION}/second-factor`, code, { cookie: second });
	assert.equal(done.status, 201);
});

test('people sign in with the issuer', async () => {
	issuer.people.set('ada', { email: 'ada@off.example', email_verified: true, groups: ['staff'] });
	const browser = openCookieClient(app);
	const begun = await browser.call('POST', `${SESSION}/oidc`);
	const answer = await issuer.authenticate(begun.body.url, 'ada');
	const [cookie = ''] = (begun.headers.getSetCookie()[0] ?? '').split(';');
	const finished = await browser.call('POST', `${SESSION}/oidc/callback`, answer, { cookie });
	assert.equal(finished.status, 201, JSON.stringify(finished.body));
});
