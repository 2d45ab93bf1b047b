import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import test, { after } from 'node:test';
import { Passwords } from '../../src/access/index.ts';
import {
	addUser,
	assertRefused,
	type CookieClient,
	OWNER,
	openCookieClient,
	PASSWORD,
	request,
	setPassword,
	startAppWithUsers,
} from '../access/people.ts';
import { quickDerive, startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { addWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture } from './fixture.ts';

const clock = manualWallClock();
const people = await startAppWithUsers({ overrides: { clock } });
const { app, signIn, owner } = people;
after(() => people[Symbol.asyncDispose]());

const SESSION = '/api/v1/session';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let made = 0;
/** An unused email. */
const fresh = () => `session${++made}@example.com`;

test('a sign-in and the current session return the user and the workspace', async () => {
	const email = fresh();
	const id = await addUser(app, email, 'member');
	const browser = openCookieClient(app);
	const answer = await browser.call('POST', SESSION, { email: email.toUpperCase(), password: PASSWORD });
	assert.equal(answer.status, 201);
	const { body } = answer;
	assert.match(body.id, /^sess_/);
	assert.deepEqual([body.user.id, body.user.email, body.user.role], [id, email, 'member']);
	assert.equal(body.workspace.name, 'Default workspace');
	assert.equal(Date.parse(body.expires_at), clock.now() + 14 * DAY);
	const [cookie, device] = answer.headers.getSetCookie();
	assert.match(device ?? '', /^parley_device=/);
	assert.match(cookie ?? '', /^parley_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1209600$/);
	assert.equal(answer.headers.get('cache-control'), 'no-store');
	assert.ok(!JSON.stringify(body).includes('hash'));
	const asked = await browser.call('GET', SESSION);
	assert.deepEqual([asked.status, asked.body], [200, body]);
	assert.equal((await browser.call('HEAD', SESSION)).status, 200);
});

test('the first wrong password of an account in an hour is in the audit log, without the password', async () => {
	const email = fresh();
	const id = await addUser(app, email, 'member');
	const refusals = async () => {
		const { body } = await app.call('GET', `/api/v1/audit-log?actor=${id}&action=refusePassword`);
		return body.data;
	};
	const attempt = async (password: string, address: string) => {
		const credentials = { email, password };
		const browser = openCookieClient(app);
		return (await browser.call('POST', SESSION, credentials, { 'x-forwarded-for': address })).status;
	};
	for (let guess = 0; guess < 3; guess++) assert.equal(await attempt('hunter2-is-wrong', '203.0.113.70'), 401);
	await until('the refusal is recorded', async () => (await refusals()).length > 0);
	const [record] = await refusals();
	assert.deepEqual([record.resource.id, record.fields], [id, ['email', 'password']]);
	assert.ok(!JSON.stringify(record).includes('hunter2'));
	clock.advance(60 * MINUTE);
	assert.equal(await attempt('hunter2-is-wrong', '203.0.113.71'), 401);
	await until('the next one is recorded', async () => (await refusals()).length === 2);
	assert.equal(await attempt(PASSWORD, '203.0.113.71'), 201);
	assert.equal((await refusals()).length, 2);
});

test('a wrong password is recorded on a server with several workspaces only if the sign-in names one', async () => {
	await using several = await startAppWithUsers();
	{
		await using store = await openStoreDirectly(several.app);
		await addWorkspace(store);
	}
	const { workspace, user } = (await several.owner.call('GET', SESSION)).body;
	const attempt = async (more: object) => {
		const credentials = { email: user.email, password: 'hunter2-is-wrong', ...more };
		assert.equal((await openCookieClient(several.app).call('POST', SESSION, credentials)).status, 401);
	};
	await attempt({});
	await attempt({ workspace_id: workspace.id });
	const refusals = await until('a refusal is recorded', async () => {
		const { body } = await several.app.call('GET', '/api/v1/audit-log?action=refusePassword');
		return body.data.length > 0 && body.data;
	});
	assert.deepEqual(
		refusals.map(({ fields }: { fields: string[] }) => fields),
		[['email', 'password', 'workspace_id']],
	);
});

test('a session has its own rate limit and its own Idempotency-Keys, as a key does', async () => {
	await using limited = await startAppWithUsers({ settings: { rate_limit: 60 } });
	const [one, two] = [limited.owner, await limited.signIn(OWNER)];
	const remaining = ({ headers }: { headers: Headers }) => headers.get('x-ratelimit-remaining');
	assert.equal(remaining(await one.call('GET', '/api/v1/assistants')), '9');
	const named = { 'idempotency-key': 'once' };
	const made = await one.call('POST', '/api/v1/assistants', { name: 'Guide' }, named);
	assert.deepEqual([made.status, remaining(made)], [201, '8']);
	const again = await two.call('POST', '/api/v1/assistants', { name: 'Guide' }, named);
	assert.deepEqual([again.status, again.body, remaining(again)], [201, made.body, '9']);
	assert.equal(remaining(await one.call('GET', SESSION)), '7');
});

test('signing out ends the session, its cookie and its open streams, and without a session does nothing', async () => {
	const browser = await signIn(OWNER);
	const cookie = browser.cookie;
	const { deployment } = await createApiFixture(app);
	const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	const path = `/api/v1/conversations/${sent.body.conversation_id}/events`;
	const stream = await fetch(app.url + path, {
		headers: { cookie: `parley_session=${cookie}` },
		signal: AbortSignal.timeout(120_000),
	});
	const { id } = (await browser.call('GET', SESSION)).body;
	const out = await browser.call('DELETE', SESSION);
	assert.deepEqual([out.status, out.body], [200, { id, deleted: true }]);
	assert.deepEqual(out.headers.getSetCookie(), ['parley_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0']);
	assert.equal(browser.cookie, null);
	for await (const _ of eventsOf(stream)) {
		// The stream ends without the client.
	}
	const after = await request(app.url, 'GET', '/api/v1/assistants', undefined, { cookie: `parley_session=${cookie}` });
	assertRefused(after, 401, 'unauthorized');
	assertRefused(await browser.call('DELETE', SESSION), 401, 'unauthorized');
	const withKey = await app.call('GET', SESSION);
	assertRefused(withKey, 401, 'unauthorized', 'a key is not a session');
	assert.equal(withKey.headers.get('x-ratelimit-limit'), null);
});

test('a session lasts fourteen days from its last use, and its cookie is renewed at most once an hour', async () => {
	const browser = await signIn(OWNER);
	const token = browser.cookie;
	const cookies = async (path = SESSION) => (await browser.call('GET', path)).headers.getSetCookie().length;
	clock.advance(60 * MINUTE - 1);
	assert.equal(await cookies(), 0);
	clock.advance(1);
	assert.equal(await cookies('/api/v1/assistants/asst_1'), 1, 'also beside a 404');
	assert.equal(await cookies(), 0);
	clock.advance(14 * DAY - 1);
	assert.equal(await cookies('/api/v1/assistants'), 1);
	assert.equal(browser.cookie, token);
	clock.advance(14 * DAY);
	assertRefused(await browser.call('GET', SESSION), 401, 'unauthorized');
});

test('erases expired sessions from the database at the next start', async () => {
	const late = manualWallClock();
	const first = await startAppWithUsers({ overrides: { clock: late } });
	late.advance(14 * DAY);
	await using app = await first.app.restart();
	await using store = await openStoreDirectly(app);
	await until('the session is erased', async () => {
		return (await store.list('sessions', { where: {}, order: 'asc', limit: 9 })).length === 0;
	});
});

test('behind https the cookie is sent over https only, and the origin is the public one', async () => {
	await using secure = await startPeopledAppAt('https://chat.example.com');
	const { url } = secure.app;
	const given = { email: OWNER, password: PASSWORD };
	const origin = 'https://chat.example.com';
	const answer = await request(url, 'POST', SESSION, given, { origin });
	const lifetimes = answer.headers.getSetCookie().map((cookie) => /Max-Age=.*$/.exec(cookie)?.[0]);
	assert.deepEqual(lifetimes, ['Max-Age=1209600; Secure', 'Max-Age=31536000; Secure']);
	assertRefused(await request(url, 'POST', SESSION, given, { origin: url }), 403, 'csrf_failed');
	assertRefused(await request(url, 'POST', SESSION, given, { origin: 'http://chat.example.com' }), 403, 'csrf_failed');
});

/** Signs in without the helper, which sends the server's address as the origin; here the origin is the public URL. */
async function startPeopledAppAt(public_url: string) {
	let token = '';
	const app = await startTestApp({
		settings: { public_url },
		overrides: {
			onFirstStart: ({ passwordToken }) => {
				token = passwordToken;
			},
		},
	});
	await setPassword(app, token);
	return { app, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('an email with accounts in two workspaces signs in to the named one or to the one whose password matches', async () => {
	const email = fresh();
	await addUser(app, email, 'member');
	await using store = await openStoreDirectly(app);
	const { id, key } = await addWorkspace(store);
	const there = { authorization: `Bearer ${key}` };
	const { body } = await app.call('POST', '/api/v1/users', { email, role: 'owner' }, there);
	const set = (token: string, password: string) => request(app.url, 'POST', `${SESSION}/password`, { token, password });
	assert.equal((await set(body.password_link.split('#')[1], PASSWORD)).status, 200);

	const where = async (browser: CookieClient) => (await browser.call('GET', SESSION)).body.workspace.id;
	const own = (await app.call('GET', '/api/v1/workspace')).body.id;
	assert.equal(await where(await signIn(email)), own, 'the oldest account');
	assert.equal(await where(await signIn(email, PASSWORD, { workspace_id: id })), id);
	assert.equal(await where(await signIn(email, PASSWORD, { workspace_id: own })), own);

	const link = await app.call('POST', `/api/v1/users/${body.id}/password-link`, undefined, there);
	assert.equal((await set(link.body.password_link.split('#')[1], 'a password of its own')).status, 200);
	assert.equal(await where(await signIn(email, 'a password of its own')), id);
	assert.equal(await where(await signIn(email)), own);
	const wrong = { email, password: PASSWORD, workspace_id: id };
	assertRefused(await openCookieClient(app).call('POST', SESSION, wrong), 401, 'unauthorized');

	// An owner of the other workspace sees nothing of this one.
	const theirs = await signIn(email, 'a password of its own');
	const [someone] = (await app.call('GET', '/api/v1/users')).body.data;
	assert.ok(someone.id);
	assertRefused(await theirs.call('GET', `/api/v1/users/${someone.id}`), 404, 'not_found');
	const emails = (await theirs.call('GET', '/api/v1/users')).body.data.map((user: { email: string }) => user.email);
	assert.deepEqual(emails, [email]);
});

/** The status of a request with any Host and Origin. */
function statusOf(
	method: string,
	path: string,
	headers: Record<string, string>,
	body?: unknown,
): Promise<{ status: number | undefined; code: string | undefined }> {
	return new Promise((resolve, reject) => {
		const sent = httpRequest(
			app.url + path,
			{ method, headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) } },
			(response) => {
				let text = '';
				response.on('data', (bytes: Buffer) => {
					text += bytes.toString();
				});
				response.on('end', () => {
					resolve({ status: response.statusCode, code: text === '' ? undefined : JSON.parse(text).error?.code });
				});
			},
		);
		sent.on('error', reject);
		sent.end(body === undefined ? undefined : JSON.stringify(body));
	});
}

test('a session changes something only from a page of this server', async () => {
	const { cookie: token } = await signIn(OWNER);
	const cookie = `parley_session=${token}`;
	const host = new URL(app.url).host;
	const name = { name: 'Made' };
	const bearer = { authorization: `Bearer ${app.key}` };
	const foreign = { origin: 'https://evil.example' };
	const table: Array<[what: string, method: string, headers: Record<string, string>, status: number, code?: string]> = [
		['our own page', 'POST', { cookie, origin: app.url }, 201],
		['the same host over https, a proxy before us', 'POST', { cookie, origin: `https://${host}` }, 201],
		['a host without a port', 'POST', { cookie, host: 'chat.example.com', origin: 'https://chat.example.com' }, 201],
		['a port that goes without saying', 'POST', { cookie, host: 'x.example:443', origin: 'https://x.example' }, 201],
		['a host in capitals', 'POST', { cookie, host: 'X.Example', origin: 'https://x.example' }, 201],
		['no Origin', 'POST', { cookie }, 403, 'csrf_failed'],
		['another site', 'POST', { cookie, ...foreign }, 403, 'csrf_failed'],
		[
			'a site whose name begins with this server’s name',
			'POST',
			{ cookie, origin: `${app.url}.evil.example` },
			403,
			'csrf_failed',
		],
		['another port', 'POST', { cookie, origin: 'http://127.0.0.1:1' }, 403, 'csrf_failed'],
		[
			'the other default port',
			'POST',
			{ cookie, host: 'x.example:443', origin: 'http://x.example' },
			403,
			'csrf_failed',
		],
		['a page without origin', 'POST', { cookie, origin: 'null' }, 403, 'csrf_failed'],
		['an empty Origin', 'POST', { cookie, origin: '' }, 403, 'csrf_failed'],
		['an Origin with a path', 'POST', { cookie, origin: `${app.url}/` }, 403, 'csrf_failed'],
		['a Referer alone', 'POST', { cookie, referer: `${app.url}/dashboard` }, 403, 'csrf_failed'],
		['a foreign page that only reads', 'GET', { cookie, ...foreign }, 200],
		['a foreign page that only reads', 'HEAD', { cookie, ...foreign }, 200],
		['a key beside the cookie', 'POST', { cookie, ...bearer, ...foreign }, 201],
		['a key alone', 'POST', { ...bearer, ...foreign }, 201],
		[
			'a wrong key beside the cookie',
			'POST',
			{ cookie, authorization: 'Bearer sk_x', origin: app.url },
			401,
			'unauthorized',
		],
		['a proxy’s own credential', 'POST', { cookie, authorization: 'Basic YTpi', ...foreign }, 403, 'csrf_failed'],
		['no cookie', 'POST', { origin: app.url }, 401, 'unauthorized'],
	];
	const count = async () => (await app.call('GET', '/api/v1/assistants?limit=100')).body.data.length;
	const before = await count();
	for (const [what, method, headers, status, code] of table) {
		const body = method === 'POST' ? name : undefined;
		assert.deepEqual(await statusOf(method, '/api/v1/assistants', headers, body), { status, code }, what);
	}
	assert.equal(await count(), before + table.filter(([, , , status]) => status === 201).length);
	for (const [method, path] of [
		['PATCH', '/api/v1/workspace'],
		['DELETE', '/api/v1/assistants/asst_1'],
		['DELETE', SESSION],
		['POST', '/api/v1/users/user_1/password-link'],
	] as const) {
		const body = method === 'PATCH' ? {} : undefined;
		const refused = { status: 403, code: 'csrf_failed' };
		assert.deepEqual(await statusOf(method, path, { cookie, ...foreign }, body), refused, path);
		assert.deepEqual(await statusOf(method, path, { cookie }, body), refused, path);
	}
});

test('other sites can neither sign in nor set a password, but a client without an Origin can', async () => {
	const given = { email: OWNER, password: PASSWORD };
	const token = { token: 'A'.repeat(43), password: PASSWORD };
	for (const origin of ['https://evil.example', 'null']) {
		const refused = { status: 403, code: 'csrf_failed' };
		assert.deepEqual(await statusOf('POST', SESSION, { origin }, given), refused);
		assert.deepEqual(await statusOf('POST', `${SESSION}/password`, { origin }, token), refused);
	}
	assert.deepEqual(await statusOf('POST', SESSION, {}, given), { status: 201, code: undefined });
	assert.deepEqual(await statusOf('POST', SESSION, { origin: app.url }, given), { status: 201, code: undefined });
	assert.deepEqual(await statusOf('POST', `${SESSION}/password`, {}, token), { status: 400, code: 'invalid_request' });
});

test('checks five of fifty wrong passwords sent at once, and the right password waits for Retry-After', async () => {
	const slow = manualWallClock();
	const hashed: string[] = [];
	const passwords = new Passwords((password, ...rest) => {
		hashed.push(password);
		return quickDerive(password, ...rest);
	});
	await using guessed = await startAppWithUsers({ overrides: { clock: slow, passwords } });
	hashed.length = 0;
	const guess = (password: string) =>
		request(guessed.app.url, 'POST', SESSION, { email: OWNER, password }, { origin: guessed.app.url });
	const responses = await Promise.all(Array.from({ length: 50 }, (_, at) => guess(`guess ${at}`)));
	const refused = responses.filter(({ status }) => status === 429);
	assert.deepEqual(
		[responses.filter(({ status }) => status === 401).length, refused.length, hashed.length],
		[5, 45, 5],
	);
	for (const answer of refused) {
		assertRefused(answer, 429, 'rate_limit_exceeded');
		assert.deepEqual([answer.body.error.retry_after, answer.headers.get('retry-after')], [60, '60']);
	}
	assert.equal((await guess(PASSWORD)).status, 429);
	slow.advance(MINUTE);
	assert.equal((await guess(PASSWORD)).status, 201);
	const right = await Promise.all(Array.from({ length: 5 }, () => guess(PASSWORD)));
	assert.ok(
		right.every(({ status }) => status === 201),
		'who gets in uses nothing up',
	);
});

test('rejects a malformed sign-in and names the field, and treats a malformed email as unknown', async () => {
	for (const [body, place] of [
		[{}, '/email'],
		[{ email: OWNER }, '/password'],
		[{ email: OWNER, password: 7 }, '/password'],
		[{ email: OWNER, password: PASSWORD, remember: true }, '/remember'],
	] as const) {
		const answer = await owner.call('POST', SESSION, body);
		assertRefused(answer, 400, 'invalid_request');
		assert.equal(answer.body.error.details[0].path, place);
	}
	assertRefused(await owner.call('POST', SESSION, { email: 'x', password: 'y' }), 401, 'unauthorized');
});
