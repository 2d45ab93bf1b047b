import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiKey } from '../../src/access/index.ts';
import { type Operation, operations } from '../../src/contract/index.ts';
import { type ApiResponse, startTestApp, type TestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

function assertError(
	{ status, headers, body }: ApiResponse,
	expected: [status: number, code: string],
	what = '',
): void {
	assert.deepEqual([status, body.error?.code], expected, `${what} ${JSON.stringify(body)}`);
	assert.match(body.error.message, /^\S.*\.$/, 'the message is a sentence');
	assert.equal(body.error.request_id, headers.get('x-request-id'));
	assert.match(headers.get('content-type') ?? '', /^application\/json/);
}

/** A call with another credential than the app's key. */
function as(key: string) {
	return (method: string, path: string, body?: unknown) =>
		app.call(method, path, body, { authorization: `Bearer ${key}` });
}

test('rejects every operation without a valid key', async () => {
	const mistyped = `${app.key.slice(0, -1)}${app.key.endsWith('A') ? 'B' : 'A'}`;
	const credentials: Array<[what: string, header: string | undefined]> = [
		['no header', undefined],
		['another scheme', `Basic ${app.key}`],
		['the bare key', app.key],
		['a key with a typo', `Bearer ${mistyped}`],
		['a key of no one', `Bearer ${createApiKey()}`],
		['two keys', `Bearer ${app.key} ${app.key}`],
		['nothing after the scheme', 'Bearer '],
	];
	for (const [what, authorization] of credentials) {
		for (const path of ['/api/v1/assistants', `/api/v1/assistants/asst_${'0'.repeat(32)}`]) {
			const response = await fetch(app.url + path, { headers: authorization === undefined ? {} : { authorization } });
			const answer = { status: response.status, headers: response.headers, body: await response.json() };
			assertError(answer, [401, 'unauthorized'], what);
			assert.equal(response.headers.get('www-authenticate'), 'Bearer');
		}
	}
});

test("accepts the credential's scheme in any case", async () => {
	const { status } = await app.call('GET', '/api/v1/assistants', undefined, { authorization: `bEARER ${app.key}` });
	assert.equal(status, 200);
});

test('a key permits what its scopes include and nothing else', async () => {
	const fixture = await createApiFixture(app);
	await using store = await openStoreDirectly(app);
	const workspace = await firstWorkspace(store);
	const reader = as(await addKey(store, workspace, ['assistants:read']));
	assert.equal((await reader('GET', '/api/v1/assistants')).status, 200);
	assert.equal((await reader('GET', `/api/v1/assistants/${fixture.assistant}`)).status, 200);
	const denied: Array<[method: string, path: string, scope: string, body?: unknown]> = [
		['POST', '/api/v1/assistants', 'assistants:write', { name: 'x' }],
		['PATCH', `/api/v1/assistants/${fixture.assistant}`, 'assistants:write', { name: 'x' }],
		['DELETE', `/api/v1/assistants/${fixture.assistant}`, 'assistants:write'],
		['GET', '/api/v1/knowledge-bases', 'knowledge_bases:read'],
		['POST', `/api/v1/knowledge-bases/${fixture.knowledgeBase}/search`, 'knowledge_bases:read', { query: 'x' }],
		['POST', `/api/v1/knowledge-bases/${fixture.knowledgeBase}/documents`, 'knowledge_bases:write', {}],
		['GET', '/api/v1/deployments', 'deployments:read'],
		['GET', '/api/v1/conversations', 'conversations:read'],
		['POST', '/api/v1/messages', 'messages:write', { deployment_id: fixture.deployment, content: 'x' }],
	];
	for (const [method, path, scope, body] of denied) {
		const answer = await reader(method, path, body);
		assertError(answer, [403, 'insufficient_scope'], path);
		assert.ok(answer.body.error.message.includes(scope), answer.body.error.message);
	}
	const writer = as(await addKey(store, workspace, ['assistants:write']));
	assertError(await writer('GET', '/api/v1/assistants'), [403, 'insufficient_scope']);
	assert.equal((await writer('PATCH', `/api/v1/assistants/${fixture.assistant}`, { name: 'Renamed' })).status, 200);
});

test("responds with the same 404 for another workspace's resources as for missing ones", async () => {
	const fixture = await createApiFixture(app);
	const document = await createResource(app, `/api/v1/knowledge-bases/${fixture.knowledgeBase}/documents`, {
		source_type: 'text',
		content: 'The shop opens at nine.',
	});
	const { body: reply } = await app.call('POST', '/api/v1/messages', {
		deployment_id: fixture.deployment,
		content: 'When do you open?',
	});
	await using store = await openStoreDirectly(app);
	const other = as((await addWorkspace(store)).key);
	const { body: assistant } = await other('POST', '/api/v1/assistants', { name: 'Theirs' });

	const base = `/api/v1/knowledge-bases/${fixture.knowledgeBase}`;
	const talk = `/api/v1/conversations/${reply.conversation_id}`;
	const calls: Array<[method: string, path: string, body?: unknown]> = [
		['GET', `/api/v1/assistants/${fixture.assistant}`],
		['PATCH', `/api/v1/assistants/${fixture.assistant}`, { name: 'Mine' }],
		['DELETE', `/api/v1/assistants/${fixture.assistant}`],
		['POST', `/api/v1/assistants/${fixture.assistant}/knowledge-bases`, { knowledge_base_id: fixture.knowledgeBase }],
		['POST', `/api/v1/assistants/${assistant.id}/knowledge-bases`, { knowledge_base_id: fixture.knowledgeBase }],
		['DELETE', `/api/v1/assistants/${fixture.assistant}/knowledge-bases/${fixture.knowledgeBase}`],
		['GET', base],
		['PATCH', base, { name: 'Mine' }],
		['DELETE', base],
		['GET', `${base}/status`],
		['POST', `${base}/search`, { query: 'open' }],
		['GET', `${base}/documents`],
		['POST', `${base}/documents`, { source_type: 'text', content: 'Mine.' }],
		['GET', `${base}/documents/${document}`],
		['DELETE', `${base}/documents/${document}`],
		['GET', `${base}/documents/${document}/chunks`],
		['POST', `${base}/documents/${document}/retry`],
		['GET', `/api/v1/deployments/${fixture.deployment}`],
		['PATCH', `/api/v1/deployments/${fixture.deployment}`, { name: 'Mine' }],
		['DELETE', `/api/v1/deployments/${fixture.deployment}`],
		['POST', '/api/v1/deployments', { assistant_id: fixture.assistant }],
		['POST', '/api/v1/messages', { deployment_id: fixture.deployment, content: 'Mine' }],
		['GET', talk],
		['GET', `${talk}/messages`],
		['GET', `${talk}/events`],
		['POST', `${talk}/stop`],
	];
	const unknown = (text: string) =>
		text.replaceAll(/(asst|kb|doc|dep|conv)_[0-9a-z]{32}/g, (id, kind) =>
			id === assistant.id ? id : `${kind}_${'0'.repeat(32)}`,
		);
	const said = ({ status, body }: ApiResponse) => [status, body.error?.code, body.error?.message];
	for (const [method, path, body] of calls) {
		const foreign = await other(method, path, body);
		assertError(foreign, [404, 'not_found'], `${method} ${path}`);
		const nowhere = body === undefined ? undefined : JSON.parse(unknown(JSON.stringify(body)));
		assert.deepEqual(said(foreign), said(await other(method, unknown(path), nowhere)), `${method} ${path}`);
	}
	for (const list of ['knowledge-bases', 'deployments', 'conversations']) {
		assert.deepEqual((await other('GET', `/api/v1/${list}`)).body, { data: [], next_cursor: null }, list);
	}
	assert.deepEqual(
		(await other('GET', `/api/v1/conversations?deployment_id=${fixture.deployment}`)).body.data,
		[],
		'a filter opens no door either',
	);
	// None of these requests changed anything.
	const { body: untouched } = await app.call('GET', `/api/v1/assistants/${fixture.assistant}`);
	assert.deepEqual([untouched.name, untouched.knowledge_base_ids], ['Guide', [fixture.knowledgeBase]]);
	assert.equal((await app.call('GET', `${base}/documents`)).body.data.length, 1);
});

test('responds with the same 404 to a malformed id as to an unknown one', async () => {
	for (const id of [
		'asst_1',
		'nonsense',
		`kb_${'0'.repeat(32)}`,
		`asst_${'0'.repeat(31)}i`,
		`asst_${'0'.repeat(33)}`,
	]) {
		assertError(await app.call('GET', `/api/v1/assistants/${id}`), [404, 'not_found'], id);
	}
	assertError(await app.call('PATCH', '/api/v1/deployments/dep_1', { name: 'x' }), [404, 'not_found']);
	assertError(await app.call('POST', '/api/v1/messages', { deployment_id: 'dep_1', content: 'x' }), [404, 'not_found']);
});

test('names unknown query parameters and invalid values and does not ignore them', async () => {
	const refused: Array<[path: string, place: string]> = [
		['/api/v1/assistants?limits=5', '/limits'],
		['/api/v1/assistants?limit=0', '/limit'],
		['/api/v1/assistants?limit=101', '/limit'],
		['/api/v1/assistants?limit=-1', '/limit'],
		['/api/v1/assistants?limit=ten', '/limit'],
		['/api/v1/assistants?limit=1.5', '/limit'],
		['/api/v1/assistants?limit=', '/limit'],
		['/api/v1/assistants?order=newest', '/order'],
		['/api/v1/assistants?status=deleted', '/status'],
		['/api/v1/conversations?created_after=yesterday', '/created_after'],
		['/api/v1/assistants/asst_1?verbose=1', '/verbose'],
	];
	for (const [path, place] of refused) {
		const answer = await app.call('GET', path);
		assertError(answer, [400, 'invalid_request'], path);
		assert.deepEqual(
			answer.body.error.details.map((detail: { path: string }) => detail.path),
			[place],
			path,
		);
	}
	const twice = await app.call('GET', '/api/v1/assistants?limit=1&limit=2');
	assertError(twice, [400, 'invalid_request']);
	assert.match(twice.body.error.message, /limit/);
	for (const limit of [1, 100]) {
		assert.equal((await app.call('GET', `/api/v1/assistants?limit=${limit}`)).status, 200);
	}
});

test('requires a JSON body with a JSON content type', async () => {
	const send = (body: string | undefined, type: string | undefined) =>
		app.call('POST', '/api/v1/assistants', undefined, {}).then(async () => {
			const response = await fetch(`${app.url}/api/v1/assistants`, {
				method: 'POST',
				headers: { authorization: `Bearer ${app.key}`, ...(type === undefined ? {} : { 'content-type': type }) },
				...(body === undefined ? {} : { body: Buffer.from(body) }),
			});
			return { status: response.status, headers: response.headers, body: await response.json() } as ApiResponse;
		});
	assertError(await send('{"name":"x"}', undefined), [400, 'unsupported_content_type']);
	assertError(await send('{"name":"x"}', 'text/plain'), [400, 'unsupported_content_type']);
	assertError(await send('{"name":', 'application/json'), [400, 'invalid_json']);
	assertError(await send(undefined, 'application/json'), [400, 'invalid_request']);
	assertError(await send('null', 'application/json'), [400, 'invalid_request']);
	assertError(await send(`{"name":"${'x'.repeat(1024 * 1024)}"}`, 'application/json'), [413, 'payload_too_large']);
	assert.equal((await send('{"name":"x"}', 'application/json; charset=UTF-8')).status, 201);
});

test('an operation without a body rejects a body with content', async () => {
	const id = await createResource(app, '/api/v1/assistants', { name: 'Guide' });
	const refused = await app.call('DELETE', `/api/v1/assistants/${id}`, { purge: true });
	assertError(refused, [400, 'invalid_request']);
	assert.equal((await app.call('GET', `/api/v1/assistants/${id}`)).body.status, 'active');
	assert.equal((await app.call('DELETE', `/api/v1/assistants/${id}`, {})).status, 200);
});

test('responds to HEAD wherever GET exists, and to other methods with the allowed ones', async () => {
	const head = await fetch(`${app.url}/api/v1/assistants`, {
		method: 'HEAD',
		headers: { authorization: `Bearer ${app.key}` },
	});
	assert.deepEqual([head.status, await head.text()], [200, '']);
	const put = await app.call('PUT', '/api/v1/assistants');
	assertError(put, [405, 'method_not_allowed']);
	assert.deepEqual(put.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'POST']);
	assertError(await app.call('GET', '/api/v1/assistant'), [404, 'not_found']);
});

const limitsOf = ({ headers }: ApiResponse) =>
	['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN));

async function drainBucket(limited: TestApp, burst: number): Promise<ApiResponse[]> {
	const responses: ApiResponse[] = [];
	for (let at = 0; at < burst; at++) responses.push(await limited.call('GET', '/api/v1/assistants'));
	return responses;
}

test('every response shows the rest of the rate limit, and beyond it 429 has Retry-After', async () => {
	const clock = manualWallClock();
	await using limited = await startTestApp({ settings: { rate_limit: 60 }, overrides: { clock } });
	const allowed = await drainBucket(limited, 10);
	assert.deepEqual(
		allowed.map(({ status }) => status),
		Array(10).fill(200),
	);
	assert.deepEqual(
		allowed.map(limitsOf),
		Array.from({ length: 10 }, (_, at) => [60, 9 - at, at + 1]),
	);

	const refused = await limited.call('GET', '/api/v1/assistants');
	assertError(refused, [429, 'rate_limit_exceeded']);
	assert.deepEqual(limitsOf(refused), [60, 0, 10]);
	assert.equal(refused.headers.get('retry-after'), '1');
	assert.equal(refused.body.error.retry_after, 1);

	clock.advance(1000);
	const missing = await limited.call('GET', '/api/v1/assistants/asst_1');
	assertError(missing, [404, 'not_found'], 'after the wait of Retry-After');
	assert.deepEqual(limitsOf(missing), [60, 0, 10], 'errors count and have the headers too');
	assertError(await limited.call('POST', '/api/v1/messages', { wrong: true }), [429, 'rate_limit_exceeded']);

	// A second key has its own bucket, and rejected requests do not use it up.
	await using store = await openStoreDirectly(limited);
	const second = await addKey(store, await firstWorkspace(store), ['assistants:read']);
	const other = await limited.call('GET', '/api/v1/assistants', undefined, { authorization: `Bearer ${second}` });
	assert.deepEqual([other.status, limitsOf(other)], [200, [60, 9, 1]]);
	clock.advance(10_000);
	assert.deepEqual(limitsOf(await limited.call('GET', '/api/v1/assistants')), [60, 9, 1]);
});

test('responses without a valid credential show the limit of the address, and beyond it are 429', async () => {
	const clock = manualWallClock();
	const settings = { rate_limit: 60, trusted_proxies: ['127.0.0.1'] };
	await using limited = await startTestApp({ settings, overrides: { clock } });
	const from = (address: string, path = '/api/v1/assistants', authorization = 'Bearer sk_x') =>
		limited.call('GET', path, undefined, { authorization, 'x-forwarded-for': address });
	for (let at = 0; at < 8; at++) {
		const refused = await from('192.0.2.1');
		assertError(refused, [401, 'unauthorized']);
		assert.deepEqual(limitsOf(refused), [60, 9 - at, at + 1]);
	}
	for (const [path, left] of [
		['/api/v1/assistants/%ff', 1],
		['/api/v1/nonesuch', 0],
	] as const) {
		const lost = await from('192.0.2.1', path);
		assert.deepEqual([lost.status, limitsOf(lost)[1]], [path.includes('%') ? 400 : 404, left], path);
	}
	const over = await from('192.0.2.1');
	assertError(over, [429, 'rate_limit_exceeded']);
	assert.deepEqual([limitsOf(over), over.headers.get('retry-after')], [[60, 0, 10], '1']);

	for (const path of ['/api/v1/nonesuch', '/api/v1/assistants/%ff']) {
		const lost = await from('192.0.2.1', path);
		assertError(lost, [429, 'rate_limit_exceeded'], path);
		assert.deepEqual([limitsOf(lost), lost.headers.get('retry-after')], [[60, 0, 10], '1'], path);
	}
	const method = await limited.call('PUT', '/api/v1/assistants', undefined, { 'x-forwarded-for': '192.0.2.1' });
	assertError(method, [429, 'rate_limit_exceeded'], 'a method that the path does not take');
	assert.equal(method.headers.get('allow'), null);

	assert.deepEqual(limitsOf(await from('192.0.2.2')), [60, 9, 1], 'another address has its own');
	for (let at = 1; at <= 3; at++) {
		const answer = await from(`2001:db8:1:2::${at}`);
		assert.deepEqual(limitsOf(answer), [60, 10 - at, at], 'an IPv6 network is one address');
	}
	const good = await from('192.0.2.1', '/api/v1/assistants', `Bearer ${limited.key}`);
	assert.deepEqual([good.status, limitsOf(good)], [200, [60, 9, 1]], 'a valid key from there has its own limit too');
	const signIn = await limited.call(
		'POST',
		'/api/v1/session',
		{ email: 'a', password: 'b' },
		{ 'x-forwarded-for': '192.0.2.3', authorization: '' },
	);
	assert.deepEqual([signIn.status, limitsOf(signIn)], [401, [60, 9, 1]]);
});

test('every POST rejects a malformed Idempotency-Key, also where a valid one is ignored', async () => {
	const headers = { 'idempotency-key': 'ü' };
	for (const { method, path, access } of Object.values<Operation>(operations)) {
		if (method !== 'POST') continue;
		const place = path.replaceAll(/\{\w+\}/g, 'x');
		const call = access.kind === 'widget' ? app.callAsVisitor : app.call;
		const { status, body } = await call('POST', place, {}, headers);
		assert.deepEqual([status, body.error.code], [400, 'invalid_request'], path);
		assert.match(body.error.message, /^Idempotency-Key /, path);
	}
});

test('a search accepts an Idempotency-Key and searches each time', async () => {
	const { body } = await app.call('POST', '/api/v1/knowledge-bases', { name: 'Shop' });
	const search = (query: string) =>
		app.call('POST', `/api/v1/knowledge-bases/${body.id}/search`, { query }, { 'idempotency-key': 'one key' });
	for (const query of ['kettle', 'kettle', 'another query']) {
		const { status, headers } = await search(query);
		assert.deepEqual([status, headers.get('idempotent-replayed')], [200, null]);
	}
});

test("without a server setting the workspace's plan sets the requests per minute", async () => {
	await using limited = await startTestApp({ settings: { rate_limit: undefined } });
	assert.equal(limitsOf(await limited.call('GET', '/api/v1/assistants'))[0], 6000);
	await using store = await openStoreDirectly(limited);
	const free = await addWorkspace(store, 'free');
	const answer = await limited.call('GET', '/api/v1/assistants', undefined, { authorization: `Bearer ${free.key}` });
	assert.equal(limitsOf(answer)[0], 60);
	const stream = await limited.call('GET', '/api/v1/conversations', undefined, { authorization: `Bearer ${free.key}` });
	assert.deepEqual(limitsOf(stream).slice(0, 2), [60, 8]);
});
