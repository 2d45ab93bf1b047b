import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ManualModel } from '../conversations/manual-model.ts';
import { ClientView, isNamed, openTestStream } from '../conversations/streams.ts';
import { type ApiResponse, ORIGIN, startTestApp } from '../support/app.ts';
import { DEFAULT_APPEARANCE } from '../support/default-appearance.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { type ApiFixture, createApiFixture } from './fixture.ts';

const clock = manualWallClock();
const model = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['You said: ', question, '.']),
});
const app = await startTestApp({ overrides: { clock, providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());

const CONFIG = '/api/v1/widget/config';
const MESSAGES = '/api/v1/widget/messages';

/** A deployment whose assistant replies at once, unless the message begins with "Wait". */
const deploy = (deployment: Record<string, unknown> = {}): Promise<ApiFixture> =>
	createApiFixture(app, { model: 'scripted/any', deployment });

const fixture = await deploy();
const configPath = (deployment: string) => `${CONFIG}?deployment_id=${deployment}`;

/** A request with exactly these headers. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<ApiResponse> {
	const response = await fetch(app.url + path, { method, headers });
	const text = await response.text();
	return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const listOf = (text: string | null) => text?.split(', ').map((item) => item.toLowerCase()) ?? [];

/** Every response to a visitor's page, also an error, must be readable there and nowhere else. */
function assertCors({ headers }: ApiResponse, origin: string): void {
	assert.equal(headers.get('access-control-allow-origin'), origin);
	assert.ok(listOf(headers.get('vary')).includes('origin'));
	assert.deepEqual(listOf(headers.get('access-control-expose-headers')), ['retry-after', 'etag', 'x-request-id']);
	assert.equal(headers.get('access-control-allow-credentials'), null);
}

test('the configuration has the specified fields, is cacheable for a minute and has a strong ETag', async () => {
	const answer = await app.callAsVisitor('GET', configPath(fixture.deployment));
	assert.equal(answer.status, 200);
	assertCors(answer, ORIGIN);
	assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
	assert.equal(answer.headers.get('cache-control'), 'public, max-age=60, stale-while-revalidate=300');
	assert.match(answer.headers.get('etag') ?? '', /^"[\w-]+"$/);
	const { greeting, ...appearance } = answer.body.appearance;
	assert.equal(typeof greeting, 'string');
	assert.deepEqual(
		{ ...answer.body, appearance },
		{
			deployment_id: fixture.deployment,
			assistant_id: fixture.assistant,
			appearance: DEFAULT_APPEARANCE,
			features: { streaming: true, rich_content: true, jwt_required: false, ai_disclosure: true, handoff: false },
			rate_limit: { messages_per_minute: 20 },
		},
	);
});

test('responds 304 to the current ETag, and the next request after a change gets the new configuration', async () => {
	const { deployment } = await deploy();
	const first = await app.callAsVisitor('GET', configPath(deployment));
	const etag = first.headers.get('etag') ?? '';
	for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
		const answer = await app.callAsVisitor('GET', configPath(deployment), undefined, { 'if-none-match': condition });
		assert.deepEqual([answer.status, answer.body], [304, undefined], condition);
		assert.equal(answer.headers.get('etag'), etag);
		assert.equal(answer.headers.get('cache-control'), first.headers.get('cache-control'));
		assertCors(answer, ORIGIN);
	}
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { appearance: { greeting: 'Welcome' } });
	const changed = await app.callAsVisitor('GET', configPath(deployment), undefined, { 'if-none-match': etag });
	assert.deepEqual([changed.status, changed.body.appearance.greeting], [200, 'Welcome']);
	assert.notEqual(changed.headers.get('etag'), etag);
});

test('the allowlist checks Origin, and Referer only where Origin is absent', async () => {
	const path = configPath(fixture.deployment);
	const byReferer = await get(path, { referer: `${ORIGIN}/prices?x=1` });
	assert.equal(byReferer.status, 200);
	assert.equal(byReferer.headers.get('cache-control'), 'no-store');
	assert.equal(byReferer.headers.get('access-control-allow-origin'), null);
	assert.ok(listOf(byReferer.headers.get('vary')).includes('origin'));

	const refused: Record<string, string>[] = [
		{},
		{ origin: 'https://evil.example' },
		{ origin: 'https://evil.example', referer: `${ORIGIN}/` },
		{ origin: 'null' },
		{ origin: 'null', referer: `${ORIGIN}/` },
		{ origin: '', referer: 'https://evil.example/' },
		{ origin: `${ORIGIN}.` },
		{ origin: `${ORIGIN}:8443` },
		{ origin: 'https://shop.example.evil.example' },
		{ origin: 'https://www.shop.example' },
		{ origin: `${ORIGIN}/` },
		{ referer: 'https://evil.example/?https://shop.example/' },
		{ referer: 'https://shop.example@evil.example/' },
		{ referer: 'shop.example' },
		{ referer: 'about:blank' },
	];
	for (const headers of refused) {
		const answer = await get(path, headers);
		assert.deepEqual([answer.status, answer.body.error.code], [403, 'domain_not_allowed'], JSON.stringify(headers));
		assert.equal(answer.headers.get('cache-control'), 'no-store');
		assert.equal(answer.headers.get('etag'), null);
		if (headers.origin) assertCors(answer, headers.origin);
	}
});

test('a change of the allowlist takes effect with the next request', async () => {
	const { deployment } = await deploy({ allowed_domains: [] });
	const status = async () => (await app.callAsVisitor('GET', configPath(deployment))).status;
	assert.equal(await status(), 403);
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, {
		allowed_domains: ['*.other.example', 'shop.example'],
	});
	assert.equal(await status(), 200);
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { allowed_domains: ['*.shop.example'] });
	assert.equal(await status(), 403);
});

test('an unknown, malformed or archived deployment is a 404 that the page can read', async () => {
	const { deployment } = await deploy();
	await app.callAsVisitor('GET', configPath(deployment));
	await app.call('DELETE', `/api/v1/deployments/${deployment}`);
	const bodies = new Set<string>();
	for (const id of [deployment, 'dep_1', `dep_${'0'.repeat(32)}`, fixture.assistant, '%00', '..%2f..']) {
		for (const origin of [ORIGIN, 'https://evil.example']) {
			const answer = await get(configPath(id), { origin });
			assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found'], id);
			assertCors(answer, origin);
			bodies.add(answer.body.error.message);
		}
	}
	assert.equal(bodies.size, 1, 'nobody learns which ids exist');
	const message = await app.callAsVisitor('POST', MESSAGES, { deployment_id: deployment, content: 'Hi' });
	assert.equal(message.status, 404);
	assertCors(message, ORIGIN);
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { status: 'active' });
	assert.equal((await app.callAsVisitor('GET', configPath(deployment))).status, 200);
});

test('the configuration ignores parameters that caches add, and requires the id', async () => {
	assert.equal((await app.callAsVisitor('GET', `${configPath(fixture.deployment)}&v=3&utm_source=x`)).status, 200);
	for (const path of [CONFIG, `${CONFIG}?deployment_id=`, `${CONFIG}?deployment=${fixture.deployment}`]) {
		const answer = await app.callAsVisitor('GET', path);
		assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, '/deployment_id']);
		assertCors(answer, ORIGIN);
	}
});

test('responds to HEAD for the configuration with the headers of GET', async () => {
	const path = configPath(fixture.deployment);
	const [head, whole] = [await get(path, { origin: ORIGIN }, 'HEAD'), await get(path, { origin: ORIGIN })];
	assert.deepEqual([head.status, head.body], [200, undefined]);
	for (const name of ['etag', 'cache-control', 'content-type', 'content-length', 'access-control-allow-origin']) {
		assert.equal(head.headers.get(name), whole.headers.get(name), name);
	}
	assert.equal((await get(path, { origin: 'https://evil.example' }, 'HEAD')).status, 403);
});

test('the 601st request for one configuration in a minute is a 429 with Retry-After', async () => {
	const { deployment } = await deploy();
	const statuses: number[] = [];
	for (let batch = 0; batch < 30; batch++) {
		const responses = await Promise.all(
			Array.from({ length: 20 }, () => fetch(app.url + configPath(deployment), { headers: { origin: ORIGIN } })),
		);
		statuses.push(...responses.map(({ status }) => status));
		await Promise.all(responses.map((answer) => answer.arrayBuffer()));
	}
	assert.deepEqual(new Set(statuses), new Set([200]));
	const refused = await app.callAsVisitor('GET', configPath(deployment));
	assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limit_exceeded']);
	assert.equal(refused.headers.get('retry-after'), '60');
	assert.equal(refused.body.error.retry_after, 60);
	assert.equal(refused.headers.get('cache-control'), 'no-store');
	assertCors(refused, ORIGIN);
	assert.equal(
		(await app.callAsVisitor('GET', configPath(fixture.deployment))).status,
		200,
		'another deployment is not counted',
	);
	clock.advance(60_000);
	assert.equal((await app.callAsVisitor('GET', configPath(deployment))).status, 200);
});

test('a preflight is a 204 for any origin on every route of the widget', async () => {
	const paths = [
		CONFIG,
		MESSAGES,
		...['messages', 'events', 'stop'].map((end) => `/api/v1/widget/conversations/conv_1/${end}`),
	];
	for (const path of paths) {
		const answer = await get(
			path,
			{
				origin: 'https://anywhere.example',
				'access-control-request-method': 'POST',
				'access-control-request-headers': 'content-type',
			},
			'OPTIONS',
		);
		assert.deepEqual([answer.status, answer.body], [204, undefined], path);
		assert.equal(answer.headers.get('access-control-allow-origin'), 'https://anywhere.example');
		assert.deepEqual(listOf(answer.headers.get('access-control-allow-methods')).sort(), ['get', 'post']);
		assert.deepEqual(listOf(answer.headers.get('access-control-allow-headers')).sort(), [
			'authorization',
			'content-type',
			'idempotency-key',
			'if-none-match',
			'last-event-id',
		]);
		assert.equal(answer.headers.get('access-control-allow-credentials'), null);
	}
	const closed = await get('/api/v1/assistants', { origin: ORIGIN, 'access-control-request-method': 'GET' }, 'OPTIONS');
	assert.equal(closed.status, 405, 'the authenticated API is not for pages of other origins');
	assert.equal(closed.headers.get('access-control-allow-origin'), null);
});

test('a visitor gets a reply, continues the conversation and sees no internal data', async () => {
	const send = (content: string, conversation_id?: string) =>
		app.callAsVisitor('POST', MESSAGES, { deployment_id: fixture.deployment, content, conversation_id });
	const first = await send('Hello');
	assert.equal(first.status, 201);
	assertCors(first, ORIGIN);
	assert.equal(first.headers.get('cache-control'), 'no-store');
	const { conversation_id } = first.body;
	const second = await send('Again', conversation_id);
	assert.equal(second.body.conversation_id, conversation_id);

	const history = await app.callAsVisitor(
		'GET',
		`/api/v1/widget/conversations/${conversation_id}/messages?deployment_id=${fixture.deployment}`,
	);
	assert.equal(history.status, 200);
	assertCors(history, ORIGIN);
	assert.deepEqual(
		history.body.data.map(({ content }: { content: string }) => content),
		['Hello', 'You said: Hello.', 'Again', 'You said: Again.'],
	);
	const { user_message, ...reply } = second.body;
	assert.deepEqual(history.body.data.slice(2), [user_message, reply]);
	for (const message of history.body.data) {
		for (const field of ['model', 'usage']) assert.ok(!(field in message), `visitors do not get the ${field}`);
	}
	const { body: owner } = await app.call('GET', `/api/v1/conversations/${conversation_id}`);
	assert.deepEqual([owner.channel, owner.message_count, owner.end_user], ['widget', 4, null]);

	const page = `/api/v1/widget/conversations/${conversation_id}/messages?deployment_id=${fixture.deployment}&limit=3`;
	const { body: start } = await app.callAsVisitor('GET', page);
	const { body: rest } = await app.callAsVisitor('GET', `${page}&cursor=${start.next_cursor}`);
	assert.deepEqual([...start.data, ...rest.data], history.body.data);
});

test("a visitor's stream has the same events without internal fields", async () => {
	const response = await fetch(app.url + MESSAGES, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json', accept: 'text/event-stream' },
		body: JSON.stringify({ deployment_id: fixture.deployment, content: 'Hello' }),
	});
	assert.equal(response.headers.get('access-control-allow-origin'), ORIGIN);
	assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
	const text = await response.text();
	assert.doesNotMatch(text, /"(model|usage|arguments|result)":/);
	assert.match(text, /event: message\.completed\n/);
	assert.match(text, /"content":"You said: Hello\."/);
});

test('a visitor gets the whole reply as JSON where streaming is switched off, whatever the request asks for', async () => {
	const { deployment } = await deploy({ features: { streaming: false } });
	const answer = await app.callAsVisitor(
		'POST',
		MESSAGES,
		{ deployment_id: deployment, content: 'Hi', stream: true },
		{ accept: 'text/event-stream' },
	);
	assert.deepEqual([answer.status, answer.body.content], [201, 'You said: Hi.']);
});

test('a visitor follows, stops and resumes a reply', async () => {
	const { deployment } = await deploy();
	const query = `deployment_id=${deployment}`;
	const index = model.replies.length;
	await using sent = await openTestStream(app.url + MESSAGES, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: deployment, content: 'Wait for it', stream: true }),
	});
	const held = await model.reply(index);
	held.say('Half of');
	const seen = await sent.until(isNamed('message.delta'));
	const conversation = seen[0]?.data.message.conversation_id;
	const path = `/api/v1/widget/conversations/${conversation}`;
	await using resumed = await openTestStream(`${app.url}${path}/events?${query}&last_event_id=${seen[1]?.id}`, {
		headers: { origin: ORIGIN },
	});
	assert.equal(resumed.response.headers.get('access-control-allow-origin'), ORIGIN);
	const again = await resumed.until(isNamed('message.delta'));
	assert.equal(new ClientView().show([...seen.slice(0, 2), ...again]).texts.get(seen[1]?.data.message.id), 'Half of');

	for (const origin of ['https://evil.example', 'null']) {
		assert.equal((await get(`${path}/events?${query}`, { origin })).status, 403);
		const refused = await app.callAsVisitor('POST', `${path}/stop`, { deployment_id: deployment }, { origin });
		assert.equal(refused.status, 403);
	}
	const elsewhere = await app.callAsVisitor('POST', `${path}/stop`, { deployment_id: fixture.deployment });
	assert.equal(elsewhere.status, 404, "another deployment's conversation");
	const stopped = await app.callAsVisitor('POST', `${path}/stop`, { deployment_id: deployment });
	assert.deepEqual([stopped.status, stopped.body], [200, { stopped: true }]);
	const end = (await resumed.until(isNamed('message.completed'))).at(-1)?.data.message;
	assert.deepEqual([end.status, end.content], ['stopped', 'Half of']);
	assert.ok(!('model' in end));
	assert.deepEqual((await app.callAsVisitor('POST', `${path}/stop`, { deployment_id: deployment })).body, {
		stopped: false,
	});
});

test("messages beyond the deployment's limit per minute are a 429 with Retry-After", async () => {
	const { deployment } = await deploy({ rate_limit: { messages_per_minute: 2 } });
	const send = () => app.callAsVisitor('POST', MESSAGES, { deployment_id: deployment, content: 'Hi' });
	assert.equal((await send()).status, 201);
	clock.advance(20_000);
	assert.equal((await send()).status, 201);
	const refused = await send();
	assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limit_exceeded']);
	assert.equal(refused.headers.get('retry-after'), '40');
	assert.equal(refused.body.error.retry_after, 40);
	assert.equal(refused.headers.get('cache-control'), 'no-store');
	assertCors(refused, ORIGIN);
	assert.equal((await app.callAsVisitor('GET', configPath(deployment))).status, 200, 'only messages are counted');
	clock.advance(40_000);
	assert.equal((await send()).status, 201);
	assert.equal((await send()).status, 429);
	const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	assert.equal(body.data.length, 3, 'what was refused began no conversation');
});

test('a deployment that requires a JWT admits no visitor without one, but shows its configuration', async () => {
	const jwt = { algorithm: 'HS256', secret: 'a secret of the shop, long enough' };
	const { deployment } = await deploy({ features: { jwt_required: true }, jwt });
	const { status, body } = await app.callAsVisitor('GET', configPath(deployment));
	assert.deepEqual([status, body.features.jwt_required], [200, true]);
	const query = `deployment_id=${deployment}`;
	const calls: Array<[method: string, path: string, body?: unknown]> = [
		['POST', MESSAGES, { deployment_id: deployment, content: 'Hi' }],
		['GET', `/api/v1/widget/conversations/conv_1/messages?${query}`],
		['GET', `/api/v1/widget/conversations/conv_1/events?${query}`],
		['POST', '/api/v1/widget/conversations/conv_1/stop', { deployment_id: deployment }],
	];
	for (const [method, path, sent] of calls) {
		for (const headers of [{}, { authorization: `Bearer ${app.key}` }]) {
			const answer = await app.callAsVisitor(method, path, sent, headers as Record<string, string>);
			assert.deepEqual([answer.status, answer.body.error.code], [401, 'invalid_jwt'], path);
			assertCors(answer, ORIGIN);
		}
	}
});

test('every route of the widget rejects pages of other domains', async () => {
	const { body } = await app.callAsVisitor('POST', MESSAGES, { deployment_id: fixture.deployment, content: 'Mine' });
	const query = `deployment_id=${fixture.deployment}`;
	const path = `/api/v1/widget/conversations/${body.conversation_id}`;
	for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
		const calls = [
			app.callAsVisitor('POST', MESSAGES, { deployment_id: fixture.deployment, content: 'Hi' }, headers),
			app.callAsVisitor('GET', `${path}/messages?${query}`, undefined, headers),
			app.callAsVisitor('GET', `${path}/events?${query}`, undefined, headers),
			app.callAsVisitor('POST', `${path}/stop`, { deployment_id: fixture.deployment }, headers),
		];
		for (const answer of await Promise.all(calls)) {
			assert.deepEqual([answer.status, answer.body.error.code], [403, 'domain_not_allowed']);
			assert.equal(answer.headers.get('cache-control'), 'no-store');
		}
	}
	assert.equal((await get(`${path}/messages?${query}`)).status, 403, 'no page at all');
	assert.equal((await get(`${path}/messages?${query}`, { referer: `${ORIGIN}/` })).status, 200);
});

test('rejects invalid requests of a widget, names the field, and the page can read it', async () => {
	const refused: Array<[body: unknown, path: string]> = [
		[{ content: 'Hi' }, '/deployment_id'],
		[{ deployment_id: fixture.deployment }, '/content'],
		[{ deployment_id: fixture.deployment, content: '' }, '/content'],
		[{ deployment_id: fixture.deployment, content: 'Hi', end_user: {} }, '/end_user'],
		[{ deployment_id: fixture.deployment, content: 'Hi', stream: 'yes' }, '/stream'],
	];
	for (const [body, path] of refused) {
		const answer = await app.callAsVisitor('POST', MESSAGES, body);
		assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, path], JSON.stringify(body));
		assertCors(answer, ORIGIN);
	}
	const history = await app.callAsVisitor('GET', '/api/v1/widget/conversations/conv_1/messages');
	assert.deepEqual([history.status, history.body.error.details[0].path], [400, '/deployment_id']);
	const nowhere = await app.callAsVisitor('GET', '/api/v1/widget/nothing');
	assert.equal(nowhere.status, 404);
	assertCors(nowhere, ORIGIN);
	const wrong = await app.callAsVisitor('DELETE', CONFIG);
	assert.equal(wrong.status, 405);
	assertCors(wrong, ORIGIN);
});
