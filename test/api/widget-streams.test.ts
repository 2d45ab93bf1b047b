import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { withDeadline } from '../../src/base/index.ts';
import { signWithSecret } from '../access/signers.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { isNamed, openTestStream, type TestStream } from '../conversations/streams.ts';
import { type ApiResponse, ORIGIN, startTestApp } from '../support/app.ts';
import type { ReceivedEvent } from '../support/event-stream.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { createApiFixture } from './fixture.ts';

/** JWTs have whole seconds. */
const clock = manualWallClock(Math.floor(Date.now() / 1000) * 1000);
const model = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['You said: ', question, '.']),
});
const settings = { trusted_proxies: ['127.0.0.1'] };
const app = await startTestApp({ settings, overrides: { clock, providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());

const MESSAGES = '/api/v1/widget/messages';
const SECRET = 'a secret of the shop, long enough';
const NEW_SECRET = 'another secret of the shop, long enough';
const OTHER_ORIGIN = 'https://blog.example';
/** The tolerance for clocks (seconds). */
const TOLERANCE = 30;
const STREAMS = 100;
const REQUESTS_PER_MINUTE = 300;
const DEADLINE_MS = 120_000;

/** A token that expires after this many seconds. */
const tokenFor = (seconds: number, { sub = 'ann', secret = SECRET } = {}) =>
	signWithSecret(secret, { sub, exp: Math.floor(clock.now() / 1000) + seconds });

interface Fields {
	tokens?: boolean;
	[field: string]: unknown;
}

/** A deployment for two pages; with `tokens` it requires a token. */
async function deploy({ tokens = false, ...more }: Fields = {}) {
	const jwt = tokens ? { features: { jwt_required: true }, jwt: { algorithm: 'HS256', secret: SECRET } } : {};
	const deployment = {
		allowed_domains: ['shop.example', 'blog.example'],
		rate_limit: { messages_per_minute: 1_000 },
		...jwt,
		...more,
	};
	return (await createApiFixture(app, { model: 'scripted/any', deployment })).deployment;
}

const change = async (deployment: string, patch: object): Promise<void> => {
	const { status, body } = await app.call('PATCH', `/api/v1/deployments/${deployment}`, patch);
	assert.equal(status, 200, JSON.stringify(body));
};

/** A visitor of a deployment on a page. */
function visitor(deployment: string, token: string | null = null, more: Record<string, string> = {}) {
	const headers = { origin: ORIGIN, ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...more };
	const path = (conversation: string, end: string) => `/api/v1/widget/conversations/${conversation}/${end}`;
	const events = (conversation: string) => `${path(conversation, 'events')}?deployment_id=${deployment}`;
	const body = (content: string, conversation_id?: string) => ({ deployment_id: deployment, content, conversation_id });
	return {
		send: (content: string, conversation?: string) =>
			app.callAsVisitor('POST', MESSAGES, body(content, conversation), headers),
		async start(): Promise<{ id: string; conversation_id: string }> {
			const response = await this.send('Hello');
			assert.equal(response.status, 201, JSON.stringify(response.body));
			return response.body;
		},
		history: (conversation: string) =>
			app.callAsVisitor('GET', `${path(conversation, 'messages')}?deployment_id=${deployment}`, undefined, headers),
		stop: (conversation: string) =>
			app.callAsVisitor('POST', path(conversation, 'stop'), { deployment_id: deployment }, headers),
		rate: (message: string) =>
			app.callAsVisitor(
				'POST',
				`${MESSAGES}/${message}/feedback`,
				{ deployment_id: deployment, rating: 'up' },
				headers,
			),
		follow: (conversation: string) => openTestStream(app.url + events(conversation), { headers }),
		/** Requests the events and closes the stream without reading. */
		async asksToFollow(conversation: string, method = 'GET'): Promise<ApiResponse> {
			const away = new AbortController();
			const response = await fetch(app.url + events(conversation), { method, headers, signal: away.signal });
			const text = response.status === 200 ? '' : await response.text();
			away.abort();
			return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
		},
		stream: (content: string, conversation?: string) =>
			openTestStream(app.url + MESSAGES, {
				method: 'POST',
				headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
				body: JSON.stringify(body(content, conversation)),
			}),
	};
}

/** The events that a stream sends until the server ends it. */
const rest = (stream: TestStream) =>
	withDeadline(stream.rest(), DEADLINE_MS, () => new Error('The stream did not end.'));

const contents = (events: ReceivedEvent[]) => events.map(({ data }) => data.message?.content ?? data.delta).join('\n');

/** Whether a stream still sends the events of its conversation. */
async function assertGoesOn(stream: TestStream, other: ReturnType<typeof visitor>, conversation: string) {
	assert.equal((await other.send('Still there?', conversation)).status, 201);
	await stream.until(isNamed('message.completed'));
}

function assertTooMany({ status, headers, body }: ApiResponse, origin = ORIGIN): void {
	assert.deepEqual([status, body?.error.code], [429, 'rate_limit_exceeded']);
	assert.ok(body.error.retry_after > 0);
	assert.equal(headers.get('retry-after'), String(body.error.retry_after));
	assert.equal(headers.get('access-control-allow-origin'), origin);
	assert.equal(headers.get('cache-control'), 'no-store');
}

test('an event stream ends when its token expires and sends no later event', async () => {
	const deployment = await deploy({ tokens: true });
	const ann = visitor(deployment, tokenFor(3_600));
	const { conversation_id } = await ann.start();
	const brief = visitor(deployment, tokenFor(60));
	await using stream = await brief.follow(conversation_id);
	clock.advance((60 + TOLERANCE) * 1000 - 1);
	assert.equal((await brief.history(conversation_id)).status, 200);
	await assertGoesOn(stream, ann, conversation_id);
	clock.advance(1);
	assert.equal((await brief.history(conversation_id)).status, 401);
	await ann.send('After the end', conversation_id);
	assert.doesNotMatch(contents(await rest(stream)), /After the end/);
});

test('a stream without events ends when its token expires', async () => {
	const deployment = await deploy({ tokens: true });
	const { conversation_id } = await visitor(deployment, tokenFor(3_600)).start();
	await using lasting = await visitor(deployment, tokenFor(3_600)).follow(conversation_id);
	await using brief = await visitor(deployment, tokenFor(10)).follow(conversation_id);
	clock.advance((10 + TOLERANCE) * 1000);
	assert.deepEqual(await rest(brief), []);
	await assertGoesOn(lasting, visitor(deployment, tokenFor(3_600)), conversation_id);
});

test('the stream of a reply ends when its token expires, and the reply is completed', async () => {
	const deployment = await deploy({ tokens: true });
	const index = model.replies.length;
	await using stream = await visitor(deployment, tokenFor(10)).stream('Wait for it');
	const held = await model.reply(index);
	held.say('The first half');
	const conversation = (await stream.until(isNamed('message.delta')))[0]?.data.message.conversation_id;
	clock.advance((10 + TOLERANCE) * 1000);
	held.say(', the second half');
	held.end();
	assert.doesNotMatch(contents(await rest(stream)), /second half/);
	await until('the reply is stored', async () => {
		const { body } = await visitor(deployment, tokenFor(60)).history(conversation);
		return body.data[1].content === 'The first half, the second half';
	});
});

test('streams end with a change of the deployment that no longer admits them, and with no other change', async () => {
	const required = { features: { jwt_required: true }, jwt: { algorithm: 'HS256', secret: SECRET } };
	const changes: Array<[what: string, deployment: Fields, patch: object, survivor: 'nobody' | 'other page' | 'token']> =
		[
			['its domain is removed', {}, { allowed_domains: ['blog.example'] }, 'other page'],
			['every domain is removed', {}, { allowed_domains: [] }, 'nobody'],
			['it is archived', {}, { status: 'archived' }, 'nobody'],
			['tokens are required', {}, required, 'nobody'],
			['the secret is another one', { tokens: true }, { jwt: { secret: NEW_SECRET } }, 'nobody'],
			['another audience is asked for', { tokens: true }, { jwt: { audience: 'chat' } }, 'nobody'],
			['tokens are no longer required', { tokens: true }, { features: { jwt_required: false } }, 'nobody'],
			['its name and greeting change', {}, { name: 'New name', appearance: { greeting: 'Good day' } }, 'other page'],
			['the same secret is set again', { tokens: true }, { jwt: { secret: SECRET } }, 'token'],
			['a domain is added', { tokens: true }, { allowed_domains: ['shop.example', 'new.example'] }, 'token'],
		];
	for (const [what, fields, patch, survivor] of changes) {
		const deployment = await deploy(fields);
		const token = 'tokens' in fields ? tokenFor(3_600) : null;
		const page = visitor(deployment, token);
		const { conversation_id } = await page.start();
		const other = visitor(deployment, token, { origin: OTHER_ORIGIN });
		await using stream = await page.follow(conversation_id);
		await using elsewhere = await other.follow(conversation_id);
		const stays = survivor !== 'nobody' && what !== 'its domain is removed';
		await change(deployment, patch);
		if (survivor === 'other page') await assertGoesOn(elsewhere, other, conversation_id);
		if (survivor === 'nobody') assert.deepEqual(await rest(elsewhere), [], what);
		if (stays) await assertGoesOn(stream, survivor === 'token' ? page : other, conversation_id);
		else assert.deepEqual(await rest(stream), [], what);
	}
});

test('sends no event that follows the change immediately', async () => {
	const deployment = await deploy({ tokens: true });
	const { conversation_id } = await visitor(deployment, tokenFor(3_600)).start();
	await using stream = await visitor(deployment, tokenFor(3_600)).follow(conversation_id);
	await change(deployment, { allowed_domains: ['blog.example'], jwt: { secret: NEW_SECRET } });
	const renewed = visitor(deployment, tokenFor(3_600, { secret: NEW_SECRET }), { origin: OTHER_ORIGIN });
	assert.equal((await renewed.send('After the change', conversation_id)).status, 201);
	assert.doesNotMatch(contents(await rest(stream)), /After the change/);
});

test('the stream of a reply ends when its page is removed from the allowlist', async () => {
	const deployment = await deploy();
	const index = model.replies.length;
	await using stream = await visitor(deployment).stream('Wait for it');
	const held = await model.reply(index);
	held.say('Half');
	await stream.until(isNamed('message.delta'));
	await change(deployment, { allowed_domains: ['blog.example'] });
	assert.deepEqual(await rest(stream), []);
	held.end();
});

test('a visitor has a limited number of streams; one more is a 429 until a stream has ended', async () => {
	const deployment = await deploy();
	const mine = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.1' });
	const { conversation_id } = await mine.start();
	const streams = await Promise.all(Array.from({ length: STREAMS }, () => mine.follow(conversation_id)));
	assertTooMany(await mine.asksToFollow(conversation_id));
	const late = await app.callAsVisitor(
		'POST',
		MESSAGES,
		{ deployment_id: deployment, conversation_id, content: 'One more', stream: true },
		{ 'x-forwarded-for': '192.0.2.1' },
	);
	assertTooMany(late);
	assert.equal((await mine.history(conversation_id)).body.data.length, 2, 'what was refused is not stored');
	assert.equal((await mine.send('In one piece', conversation_id)).status, 201, 'an answer that is no stream');
	const neighbour = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.2' });
	assert.equal((await neighbour.asksToFollow(conversation_id)).status, 200, 'others are not counted');
	const elsewhere = await deploy();
	const guest = visitor(elsewhere, null, { 'x-forwarded-for': '192.0.2.1' });
	const there = (await guest.start()).conversation_id;
	assert.equal((await guest.asksToFollow(there)).status, 200, 'nor is another deployment');

	streams.pop()?.disconnect();
	clock.advance(60_000);
	await until('a place is free', async () => (await mine.asksToFollow(conversation_id)).status === 200);
	for (const stream of streams) stream.disconnect();
});

test('every way to end a stream frees its place', async () => {
	const deployment = await deploy();
	const page = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.3' });
	const { conversation_id } = await page.start();
	const other = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.3', origin: OTHER_ORIGIN });
	/** Opens as many streams as the limit allows and closes them; false where one was rejected. */
	const fillAll = async () => {
		clock.advance(60_000);
		const asked = Array.from({ length: STREAMS }, () => other.follow(conversation_id).catch(() => null));
		const streams = await Promise.all(asked);
		const all = !streams.includes(null);
		if (all) assertTooMany(await other.asksToFollow(conversation_id), OTHER_ORIGIN);
		for (const stream of streams) stream?.disconnect();
		return all;
	};

	for (let turn = 0; turn < STREAMS + 1; turn++) {
		await using stream = await page.stream(`Message ${turn}`, conversation_id);
		assert.equal((await rest(stream)).at(-1)?.event, 'message.completed');
		assert.equal((await page.asksToFollow('conv_1')).status, 404);
		assert.equal((await page.asksToFollow(conversation_id, 'HEAD')).status, 200);
		clock.advance(1_000);
	}
	const half = Array.from({ length: STREAMS / 2 }, () => page.follow(conversation_id));
	const shutOut = await Promise.all(half);
	await change(deployment, { allowed_domains: ['blog.example'] });
	for (const stream of shutOut) assert.deepEqual(await rest(stream), []);
	await until('every place is free', fillAll);
});

test('counts history, events, stop and rating together; beyond the limit is a 429 with Retry-After', async () => {
	const deployment = await deploy();
	const mine = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.4' });
	const { id, conversation_id } = await mine.start();
	const asks: Array<() => Promise<ApiResponse>> = [
		() => mine.history(conversation_id),
		() => mine.asksToFollow(conversation_id),
		() => mine.stop(conversation_id),
		() => mine.rate(id),
	];
	for (let asked = 0; asked < REQUESTS_PER_MINUTE; asked += asks.length) {
		for (const ask of asks) assert.equal((await ask()).status, 200, String(asked));
	}
	for (const ask of asks) {
		const refused = await ask();
		assertTooMany(refused);
		assert.equal(refused.body.error.retry_after, 60);
	}
	assert.equal((await mine.send('Messages have a limit of their own')).status, 201);
	const neighbour = visitor(deployment, null, { 'x-forwarded-for': '192.0.2.5' });
	assert.equal((await neighbour.history(conversation_id)).status, 200, 'others are not counted');
	clock.advance(60_000);
	for (const ask of asks) assert.equal((await ask()).status, 200);
});
