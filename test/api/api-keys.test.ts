import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import test, { after } from 'node:test';
import { hashApiKey } from '../../src/access/api-keys.ts';
import { isApiKey } from '../../src/access/index.ts';
import { timestamp } from '../../src/base/index.ts';
import { assertRefused, startAppWithUsers } from '../access/people.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture } from './fixture.ts';

const people = await startAppWithUsers();
const { app } = people;
after(() => people[Symbol.asyncDispose]());

const KEYS = '/api/v1/api-keys';

async function makeKey(body: object = {}, server: TestApp = app): Promise<{ id: string; key: string }> {
	const answer = await server.call('POST', KEYS, body);
	assert.equal(answer.status, 201, JSON.stringify(answer.body));
	return answer.body;
}

/** A call with this key. */
function using(key: string, server: TestApp = app) {
	return (method: string, path: string, body?: unknown) =>
		server.call(method, path, body, { authorization: `Bearer ${key}` });
}

test('shows a new key in full once; the key works at once and is never shown again', async () => {
	const { status, headers, body } = await app.call('POST', KEYS, { name: 'Backend' });
	assert.equal(status, 201);
	const { id, key, created_at, ...rest } = body;
	assert.match(id, /^key_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.ok(isApiKey(key));
	assert.deepEqual(rest, {
		name: 'Backend',
		prefix: key.slice(0, 8),
		scopes: ['*'],
		last_used_at: null,
		expires_at: null,
	});
	assert.equal(headers.get('cache-control'), 'no-store');
	assert.equal((await using(key)('GET', '/api/v1/assistants')).status, 200);
	for (const path of [KEYS, `${KEYS}/${id}`]) {
		const read = await app.call('GET', path);
		assert.equal(read.status, 200);
		assert.ok(!JSON.stringify(read.body).includes(key.slice(8)));
		assert.ok(!JSON.stringify(read.body).includes('hash'));
	}
	const { created_at: _, ...shown } = (await app.call('GET', `${KEYS}/${id}`)).body;
	assert.deepEqual({ ...shown, last_used_at: null }, { id, ...rest });
});

test('creates one key for two requests with the same Idempotency-Key and shows it in both responses', async () => {
	const headers = { 'idempotency-key': 'one key, please' };
	const first = await app.call('POST', KEYS, { name: 'Twice' }, headers);
	const again = await app.call('POST', KEYS, { name: 'Twice' }, headers);
	assert.deepEqual([again.status, again.body], [201, first.body]);
	assert.equal(again.headers.get('idempotent-replayed'), 'true');
	await using store = await openStoreDirectly(app);
	const whose = `${await firstWorkspace(store)} ${(await store.access.apiKeyByHash(hashApiKey(app.key)))?.id}`;
	const stored = await store.idempotency.storedResponse({
		scope: `${whose} POST ${KEYS}`,
		key: 'one key, please',
		body_hash: '',
	});
	assert.ok(stored?.body && !stored.body.includes(first.body.key), 'the stored response is sealed');
});

test('a key has the scopes that it was given and cannot grant others', async () => {
	const scopes = ['settings:read', 'settings:write', 'assistants:read'];
	const { key } = await makeKey({ scopes });
	const limited = using(key);
	assert.equal((await limited('GET', '/api/v1/assistants')).status, 200);
	assertRefused(await limited('GET', '/api/v1/knowledge-bases'), 403, 'insufficient_scope');
	const given = await limited('POST', KEYS, { scopes: ['assistants:read'] });
	assert.deepEqual([given.status, given.body.scopes], [201, ['assistants:read']]);
	for (const scopes of [['*'], undefined, ['assistants:write'], ['assistants:read', 'messages:read']]) {
		assertRefused(await limited('POST', KEYS, { scopes }), 403, 'insufficient_scope', String(scopes));
	}
	const reader = using((await makeKey({ scopes: ['settings:read'] })).key);
	assert.equal((await reader('GET', KEYS)).status, 200);
	assertRefused(await reader('POST', KEYS, { scopes: ['settings:read'] }), 403, 'insufficient_scope');
});

test('rejects unknown, empty and duplicate scopes and past expiry times, and names the field', async () => {
	const wrong: Array<[body: object, place: string]> = [
		[{ scopes: [] }, '/scopes'],
		[{ scopes: ['everything'] }, '/scopes/0'],
		[{ scopes: ['assistants:read', 'assistants:read'] }, '/scopes'],
		[{ scopes: 'assistants:read' }, '/scopes'],
		[{ expires_at: timestamp(Date.now() - 1000) }, '/expires_at'],
		[{ expires_at: 'tomorrow' }, '/expires_at'],
		[{ name: '' }, '/name'],
		[{ key: 'sk_mine' }, '/key'],
	];
	for (const [body, place] of wrong) {
		const answer = await app.call('POST', KEYS, body);
		assertRefused(answer, 400, 'invalid_request', JSON.stringify(body));
		assert.deepEqual(
			answer.body.error.details.map(({ path }: { path: string }) => path),
			[place],
		);
	}
	assert.deepEqual((await app.call('POST', KEYS, { scopes: ['assistants:read', '*'] })).body.scopes, ['*']);
});

test('a key works until the moment it expires, and then its open stream ends', async () => {
	const clock = manualWallClock();
	await using timed = await startTestApp({ overrides: { clock } });
	const { key } = await makeKey({ expires_at: timestamp(clock.now() + 60_000) }, timed);
	const { follow } = await aConversation(timed);
	const stream = await follow(key);
	clock.advance(59_999);
	assert.equal((await using(key, timed)('GET', KEYS)).status, 200);
	clock.advance(1);
	const late = await using(key, timed)('GET', KEYS);
	assertRefused(late, 401, 'unauthorized');
	assert.equal(late.headers.get('x-ratelimit-limit'), null);
	await stream.ended;
});

test('an expiring key creates no key that outlives it, and by default the new key expires with its creator', async () => {
	const at = Date.now() + 3_600_000;
	const maker = using((await makeKey({ scopes: ['settings:write'], expires_at: timestamp(at) })).key);
	const scopes = ['settings:write'];
	for (const expires_at of [
		null,
		timestamp(at + 1),
		timestamp(at + 86_400_000),
		// The same moment in another time zone, and one millisecond later.
		timestamp(at + 7_200_001).replace('Z', '+02:00'),
	]) {
		const answer = await maker('POST', KEYS, { scopes, expires_at });
		assertRefused(answer, 400, 'invalid_request', String(expires_at));
		assert.deepEqual(
			answer.body.error.details.map(({ path }: { path: string }) => path),
			['/expires_at'],
		);
	}
	for (const [given, expires_at] of [
		[{}, timestamp(at)],
		[{ expires_at: timestamp(at) }, timestamp(at)],
		[{ expires_at: timestamp(at + 7_200_000).replace('Z', '+02:00') }, timestamp(at)],
		[{ expires_at: timestamp(at - 60_000) }, timestamp(at - 60_000)],
	] as const) {
		const { status, body } = await maker('POST', KEYS, { scopes, ...given });
		assert.deepEqual([status, body.expires_at], [201, expires_at], JSON.stringify(given));
		// A key that it creates does not either.
		const next = using(body.key);
		assertRefused(await next('POST', KEYS, { scopes, expires_at: null }), 400, 'invalid_request');
		assert.equal((await next('POST', KEYS, { scopes })).body.expires_at, expires_at);
	}
});

test('a key without expiry and a session create keys with and without expiry', async () => {
	const later = timestamp(Date.now() + 400 * 86_400_000);
	for (const call of [app.call, people.owner.call]) {
		assert.equal((await call('POST', KEYS, {})).body.expires_at, null);
		assert.equal((await call('POST', KEYS, { expires_at: null })).body.expires_at, null);
		assert.equal((await call('POST', KEYS, { expires_at: later })).body.expires_at, later);
	}
});

test('shows when a key was last used, to the minute', async () => {
	const clock = manualWallClock();
	await using timed = await startTestApp({ overrides: { clock } });
	const { id, key } = await makeKey({}, timed);
	const lastUse = async () => (await timed.call('GET', `${KEYS}/${id}`)).body.last_used_at;
	assert.equal(await lastUse(), null);
	const first = timestamp(clock.now());
	await using(key, timed)('GET', '/api/v1/assistants');
	await until('the use is recorded', async () => (await lastUse()) === first);
	clock.advance(59_999);
	await using(key, timed)('GET', '/api/v1/assistants');
	clock.advance(1);
	const second = timestamp(clock.now());
	await using(key, timed)('GET', '/api/v1/assistants');
	await until('the next use is recorded', async () => (await lastUse()) !== first);
	assert.equal(await lastUse(), second);
});

/** A conversation, and a way to follow it with a key. */
async function aConversation(server: TestApp) {
	const { deployment } = await createApiFixture(server);
	const sent = await server.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	assert.equal(sent.status, 201);
	const path = `/api/v1/conversations/${sent.body.conversation_id}/events`;
	return {
		path,
		deployment,
		async follow(key: string) {
			const response = await fetch(server.url + path, {
				headers: { authorization: `Bearer ${key}` },
				signal: AbortSignal.timeout(120_000),
			});
			assert.equal(response.status, 200);
			const ended = (async () => {
				for await (const _ of eventsOf(response)) {
					// This conversation has no further events.
				}
			})();
			return { ended };
		},
	};
}

test('rejects a revoked key, also on a connection that it opened before', async () => {
	const { id, key } = await makeKey();
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const ports = new Set<number | undefined>();
	const status = () =>
		new Promise<number | undefined>((resolve, reject) => {
			const sent = httpRequest(
				`${app.url}/api/v1/assistants`,
				{ agent, headers: { authorization: `Bearer ${key}` } },
				(response) => {
					ports.add(response.socket.localPort);
					response.resume().on('end', () => resolve(response.statusCode));
				},
			);
			sent.on('error', reject).end();
		});
	assert.equal(await status(), 200);
	const gone = await app.call('DELETE', `${KEYS}/${id}`);
	assert.deepEqual([gone.status, gone.body], [200, { id, deleted: true }]);
	assert.equal(await status(), 401);
	assert.equal(ports.size, 1, 'both went over one connection');
	agent.destroy();
	assertRefused(await app.call('GET', `${KEYS}/${id}`), 404, 'not_found');
	assertRefused(await app.call('DELETE', `${KEYS}/${id}`), 404, 'not_found');
});

test('ends an event stream cleanly when its key is revoked, and leaves streams of other keys open', async () => {
	const [first, second] = [await makeKey(), await makeKey()];
	const { follow } = await aConversation(app);
	const [stream, other] = [await follow(first.key), await follow(second.key)];
	assert.equal((await app.call('DELETE', `${KEYS}/${first.id}`)).status, 200);
	await stream.ended;
	let ended = false;
	other.ended.then(
		() => {
			ended = true;
		},
		() => {},
	);
	assert.equal((await using(second.key)('GET', '/api/v1/assistants')).status, 200);
	assert.equal(ended, false);
	assert.equal((await app.call('DELETE', `${KEYS}/${second.id}`)).status, 200);
	await other.ended;
});

test('a key may revoke itself', async () => {
	const { id, key } = await makeKey();
	const own = using(key);
	assert.deepEqual((await own('DELETE', `${KEYS}/${id}`)).body, { id, deleted: true });
	assertRefused(await own('GET', KEYS), 401, 'unauthorized');
});

test('does not find keys of another workspace', async () => {
	await using store = await openStoreDirectly(app);
	const theirs = using((await addWorkspace(store)).key);
	const { id } = await makeKey();
	for (const method of ['GET', 'DELETE']) assertRefused(await theirs(method, `${KEYS}/${id}`), 404, 'not_found');
	assert.equal((await theirs('GET', KEYS)).body.data.length, 1);
	assert.equal((await app.call('GET', `${KEYS}/${id}`)).status, 200);
});

test('pages through all keys, newest first', async () => {
	await using own = await startTestApp();
	const made = [];
	for (let at = 0; at < 4; at++) made.unshift((await makeKey({ name: `Key ${at}` }, own)).id);
	const page = await own.call('GET', `${KEYS}?limit=3`);
	const rest = await own.call('GET', `${KEYS}?limit=3&cursor=${page.body.next_cursor}`);
	const ids = [...page.body.data, ...rest.body.data].map(({ id }: { id: string }) => id);
	assert.deepEqual(ids.slice(0, 4), made);
	assert.deepEqual([ids.length, rest.body.next_cursor], [5, null]);
});

test("a key's ETag changes with its use, and If-Match decides whether it is revoked", async () => {
	const { id } = await makeKey();
	const read = await app.call('GET', `${KEYS}/${id}`);
	const etag = read.headers.get('etag') as string;
	assert.equal((await app.call('GET', `${KEYS}/${id}`, undefined, { 'if-none-match': etag })).status, 304);
	const stale = await app.call('DELETE', `${KEYS}/${id}`, undefined, { 'if-match': '"99"' });
	assertRefused(stale, 412, 'precondition_failed');
	assert.equal((await app.call('DELETE', `${KEYS}/${id}`, undefined, { 'if-match': etag })).status, 200);
});

test('does not return a reply to a revoked key, but completes the reply', async () => {
	const held = new ManualModel();
	await using own = await startTestApp({ overrides: { providers: [held.provider] } });
	const { deployment } = await createApiFixture(own, { model: 'scripted/any' });
	const { id, key } = await makeKey({}, own);
	const asked = using(key, own)('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	const run = await held.reply(0);
	assert.equal((await own.call('DELETE', `${KEYS}/${id}`)).status, 200);
	assertRefused(await asked, 401, 'unauthorized');
	run.say('Good morning.');
	run.end();
	const [conversation] = (await own.call('GET', '/api/v1/conversations')).body.data;
	await until('the reply is stored', async () => {
		const { body } = await own.call('GET', `/api/v1/conversations/${conversation.id}/messages`);
		return body.data.some(
			(message: { content: string; status: string }) =>
				message.status === 'completed' && message.content === 'Good morning.',
		);
	});
});
