import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { filesContaining, recordingLog } from './traces.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const WEBHOOKS = '/api/v1/webhooks';
const HOOK = { url: 'https://example.com/hooks', events: ['message.created', 'conversation.closed'] };
const ownSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

/** Registers an endpoint and returns it. */
async function register(more: object = {}, headers?: Record<string, string>) {
	const { status, body } = await app.call('POST', WEBHOOKS, { ...HOOK, ...more }, headers);
	assert.equal(status, 201, JSON.stringify(body));
	return body;
}

test('shows the signing secret of a new endpoint once', async () => {
	const { signing_secret, ...webhook } = await register();
	assert.match(signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
	const { id, created_at, updated_at, ...rest } = webhook;
	assert.match(id, /^wh_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, { ...HOOK, description: null, status: 'active', disabled_reason: null });
	assert.deepEqual((await app.call('GET', `${WEBHOOKS}/${id}`)).body, webhook);
	const { body } = await app.call('GET', WEBHOOKS);
	assert.deepEqual(
		body.data.find((item: { id: string }) => item.id === id),
		webhook,
	);
});

test('names the invalid field of an endpoint', async () => {
	const wrong: Array<[body: unknown, code: string, place: string]> = [
		[{ events: ['*'] }, 'invalid_request', '/url'],
		[{ url: HOOK.url }, 'invalid_request', '/events'],
		[{ ...HOOK, events: [] }, 'invalid_request', '/events'],
		[{ ...HOOK, events: ['message.deleted'] }, 'invalid_request', '/events/0'],
		[{ ...HOOK, events: ['ping'] }, 'invalid_request', '/events/0'],
		[{ ...HOOK, events: ['message.created', 'message.created'] }, 'invalid_request', '/events'],
		[{ ...HOOK, events: ['*', 'message.created'] }, 'invalid_request', '/events'],
		[{ ...HOOK, events: 'message.created' }, 'invalid_request', '/events'],
		[{ ...HOOK, url: '' }, 'invalid_request', '/url'],
		[{ ...HOOK, url: 'https://example.com/two words' }, 'invalid_request', '/url'],
		[{ ...HOOK, url: 'example.com' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, url: 'http://example.com/' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, url: 'https://10.0.0.1/' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, url: 'https://[::ffff:127.0.0.1]/' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, url: 'https://localhost/' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, url: 'https://user:word@example.com/' }, 'url_not_allowed', '/url'],
		[{ ...HOOK, secret: ownSecret() }, 'invalid_request', '/secret'],
		[{ ...HOOK, description: 'x'.repeat(2001) }, 'invalid_request', '/description'],
	];
	for (const [body, code, place] of wrong) {
		const response = await app.call('POST', WEBHOOKS, body);
		const paths = response.body.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([response.status, response.body.error?.code, paths], [400, code, [place]], JSON.stringify(body));
	}
	await register({ events: ['*'] });
});

test('validates a change like a new endpoint and keeps fields that it does not name', async () => {
	const { signing_secret: _secret, ...before } = await register({ description: 'First' });
	const path = `${WEBHOOKS}/${before.id}`;
	const changed = await app.call('PATCH', path, { events: ['*'], description: null });
	assert.equal(changed.status, 200);
	const expected = { ...before, events: ['*'], description: null, updated_at: changed.body.updated_at };
	assert.deepEqual(changed.body, expected);
	const wrong: Array<[body: unknown, code: string, place: string]> = [
		[{ url: 'http://example.com/' }, 'url_not_allowed', '/url'],
		[{ url: null }, 'invalid_request', '/url'],
		[{ events: [] }, 'invalid_request', '/events'],
		[{ events: ['message.created', '*'] }, 'invalid_request', '/events'],
		[{ secret: 'whsec_short' }, 'invalid_request', '/secret'],
		[{ secret: `${ownSecret()}\n` }, 'invalid_request', '/secret'],
		[{ secret: null }, 'invalid_request', '/secret'],
		[{ status: 'archived' }, 'invalid_request', '/status'],
		[{ disabled_reason: 'x' }, 'invalid_request', '/disabled_reason'],
	];
	for (const [body, code, place] of wrong) {
		const response = await app.call('PATCH', path, body);
		const paths = response.body.error?.details?.map((detail: { path: string }) => detail.path);
		assert.deepEqual([response.status, response.body.error?.code, paths], [400, code, [place]], JSON.stringify(body));
	}
	assert.deepEqual((await app.call('GET', path)).body, expected);
});

test('disables an endpoint with a reason and removes the reason at its revival', async () => {
	const { id } = await register();
	const path = `${WEBHOOKS}/${id}`;
	const disabled = await app.call('PATCH', path, { status: 'disabled' });
	assert.deepEqual([disabled.body.status, disabled.body.disabled_reason], ['disabled', 'Disabled through the API.']);
	const { body: again } = await app.call('PATCH', path, { status: 'active' });
	assert.deepEqual([again.status, again.disabled_reason], ['active', null]);

	await using store = await openStoreDirectly(app);
	const disabled_reason = 'Every delivery of the last 120 hours has failed.';
	const set = { status: 'disabled' as const, disabled_reason };
	await store.commit({ write: [{ op: 'patch', kind: 'webhooks', id, set }] });
	const { body: kept } = await app.call('PATCH', path, { status: 'disabled', description: 'Ours' });
	assert.equal(kept.disabled_reason, disabled_reason, 'the first reason is kept');
});

test('does not find a deleted endpoint', async () => {
	const { id } = await register();
	const { status, body } = await app.call('DELETE', `${WEBHOOKS}/${id}`);
	assert.deepEqual([status, body], [200, { id, deleted: true }]);
	for (const [method, path] of [
		['GET', ''],
		['PATCH', ''],
		['DELETE', ''],
		['POST', '/rotate-secret'],
		['POST', '/test'],
	] as const) {
		const response = await app.call(method, `${WEBHOOKS}/${id}${path}`, method === 'PATCH' ? {} : undefined);
		assert.deepEqual([response.status, response.body.error.code], [404, 'not_found'], `${method} ${path}`);
	}
});

test('a rotation returns a new secret, and no other response shows one', async () => {
	const { id, signing_secret } = await register();
	const { status, body } = await app.call('POST', `${WEBHOOKS}/${id}/rotate-secret`);
	assert.deepEqual([status, Object.keys(body)], [200, ['new_secret']]);
	assert.match(body.new_secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
	assert.notEqual(body.new_secret, signing_secret);
	const secret = ownSecret();
	const patched = await app.call('PATCH', `${WEBHOOKS}/${id}`, { secret });
	assert.equal(patched.status, 200);
	for (const response of [patched, await app.call('GET', `${WEBHOOKS}/${id}`), await app.call('GET', WEBHOOKS)]) {
		assert.doesNotMatch(JSON.stringify(response.body), /whsec_/);
	}
});

test('registers an endpoint and rotates its secret once under an Idempotency-Key', async () => {
	const key = { 'idempotency-key': 'hook-1' };
	const first = await register({}, key);
	const again = await app.call('POST', WEBHOOKS, HOOK, key);
	assert.deepEqual([again.status, again.body], [201, first], 'the secret is shown to a repeat too');
	const reused = await app.call('POST', WEBHOOKS, { ...HOOK, events: ['*'] }, key);
	assert.deepEqual([reused.status, reused.body.error.code], [400, 'idempotency_key_reused']);

	const rotate = () => app.call('POST', `${WEBHOOKS}/${first.id}/rotate-secret`, undefined, key);
	const responses = await Promise.all([rotate(), rotate(), rotate()]);
	assert.equal(new Set(responses.map(({ body }) => body.new_secret)).size, 1);
	await using store = await openStoreDirectly(app);
	assert.equal((await store.get('webhooks', first.id))?.version, 2, 'rotated once');
});

test('shows a secret nowhere but in the response that creates it: not in the log or a file', async () => {
	const kept = recordingLog();
	await using own = await startTestApp({ overrides: { log: kept.log } });
	const key = { 'idempotency-key': 'hook-2' };
	const { body: webhook } = await own.call('POST', WEBHOOKS, HOOK, key);
	const again = await own.call('POST', WEBHOOKS, HOOK, key);
	assert.equal(again.body.signing_secret, webhook.signing_secret);
	const path = `${WEBHOOKS}/${webhook.id}`;
	const rotated = await own.call('POST', `${path}/rotate-secret`, undefined, key);
	const secret = ownSecret();
	const responses = [
		await own.call('PATCH', path, { secret }),
		await own.call('PATCH', path, { secret: secret.slice(0, -1) }),
		await own.call('GET', path),
		await own.call('GET', WEBHOOKS),
		await own.call('DELETE', path),
	];
	const secrets = [webhook.signing_secret, rotated.body.new_secret, secret];
	// With and without the prefix, as text and as the bytes of the key in hexadecimal.
	const words = secrets.flatMap((each) => {
		const base64 = each.slice('whsec_'.length, -1);
		return [base64, Buffer.from(base64, 'base64').toString('hex')];
	});
	for (const word of words) {
		assert.ok(!JSON.stringify(responses.map(({ body }) => body)).includes(word), 'a response shows it');
		assert.ok(!kept.text().includes(word), 'the log shows it');
	}
	assert.deepEqual(await filesContaining(own.dataDir, words), []);
	assert.notDeepEqual(await filesContaining(own.dataDir, [webhook.id]), [], 'this search finds stored text');
});

test('If-Match binds a change to a version', async () => {
	const { id } = await register();
	const path = `${WEBHOOKS}/${id}`;
	const etag = (await app.call('GET', path)).headers.get('etag') as string;
	assert.equal((await app.call('GET', path, undefined, { 'if-none-match': etag })).status, 304);
	assert.equal((await app.call('PATCH', path, { description: 'Second' }, { 'if-match': etag })).status, 200);
	for (const [method, at, body] of [
		['PATCH', path, { description: 'Third' }],
		['DELETE', path],
	] as const) {
		const response = await app.call(method, at, body, { 'if-match': etag });
		assert.deepEqual([response.status, response.body.error.code], [412, 'precondition_failed'], method);
	}
	assert.equal((await app.call('GET', path)).body.description, 'Second');
});

test('makes all concurrent changes of an endpoint', async () => {
	const { id } = await register();
	const path = `${WEBHOOKS}/${id}`;
	const rotate = () => app.call('POST', `${path}/rotate-secret`);
	const responses = await Promise.all([
		app.call('PATCH', path, { url: 'https://example.org/other' }),
		app.call('PATCH', path, { events: ['*'] }),
		app.call('PATCH', path, { description: 'Both' }),
		rotate(),
		rotate(),
		rotate(),
	]);
	assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
	const { body } = await app.call('GET', path);
	assert.deepEqual([body.url, body.events, body.description], ['https://example.org/other', ['*'], 'Both']);
	const rotated = responses.slice(3).map(({ body: { new_secret } }) => new_secret);
	assert.equal(new Set(rotated).size, 3);
	const [change, removal] = await Promise.all([
		app.call('PATCH', path, { description: 'Late' }),
		app.call('DELETE', path),
	]);
	assert.equal(removal.status, 200);
	assert.ok(change.status === 200 || change.status === 404, String(change.status));
	assert.equal((await app.call('GET', path)).status, 404);
});

test('hides endpoints of another workspace, and rejects a key without the scope', async () => {
	const { id } = await register();
	await using store = await openStoreDirectly(app);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const reader = { authorization: `Bearer ${await addKey(store, await firstWorkspace(store), ['webhooks:read'])}` };
	assert.equal((await app.call('GET', `${WEBHOOKS}/${id}`, undefined, reader)).status, 200);
	for (const [method, tail, body] of [
		['GET', ''],
		['PATCH', '', { description: 'mine' }],
		['DELETE', ''],
		['POST', '/rotate-secret'],
		['POST', '/test'],
	] as const) {
		for (const name of [id, `wh_${'0'.repeat(32)}`, 'wh_1']) {
			const response = await app.call(method, `${WEBHOOKS}/${name}${tail}`, body, stranger);
			assert.deepEqual([response.status, response.body.error.code], [404, 'not_found'], `${method} ${tail}`);
			assert.equal(response.body.error.message, 'The webhook does not exist.');
		}
		if (method === 'GET') continue;
		const denied = await app.call(method, `${WEBHOOKS}/${id}${tail}`, body, reader);
		assert.deepEqual([denied.status, denied.body.error.code], [403, 'insufficient_scope'], `${method} ${tail}`);
	}
	assert.deepEqual((await app.call('GET', WEBHOOKS, undefined, stranger)).body.data, []);
	assert.equal((await app.call('GET', `${WEBHOOKS}/${id}`)).body.description, null);
});

test('registers intranet endpoints over plain HTTP where private networks are allowed', async () => {
	await using own = await startTestApp({ settings: { allow_private_network: true } });
	const { status } = await own.call('POST', WEBHOOKS, { ...HOOK, url: 'http://10.0.0.5:8000/hook' });
	assert.equal(status, 201);
	const odd = await own.call('POST', WEBHOOKS, { ...HOOK, url: 'ftp://10.0.0.5/' });
	assert.deepEqual([odd.status, odd.body.error.code], [400, 'url_not_allowed']);
});

test('a workspace has at most fifty endpoints, also when many are registered at once, and a deletion frees a place', async () => {
	await using own = await startTestApp();
	const add = (headers?: Record<string, string>) => own.call('POST', WEBHOOKS, HOOK, headers);
	const first = await add();
	await own.call('PATCH', `${WEBHOOKS}/${first.body.id}`, { status: 'disabled' });
	const responses = await Promise.all(Array.from({ length: 60 }, () => add()));
	assert.equal(responses.filter(({ status }) => status === 201).length, 49, 'a disabled one counts');
	for (const { status, body } of responses) {
		if (status === 201) continue;
		assert.deepEqual([status, body.error.code], [403, 'plan_limit_exceeded']);
		assert.match(body.error.message, /at most 50 webhook endpoints/);
	}
	await using store = await openStoreDirectly(own);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	assert.equal((await add(stranger)).status, 201, 'each workspace counts its own');
	assert.equal((await own.call('DELETE', `${WEBHOOKS}/${first.body.id}`)).status, 200);
	assert.equal((await add()).status, 201);
	assert.equal((await add()).status, 403);
});
