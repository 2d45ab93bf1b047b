import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ORIGIN, startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';
import { follow, isNamed, openTestStream } from './streams.ts';

const FOLLOWERS = 1_000;
/** Connections that are opened side by side. */
const OPENING = 50;

/** A server whose model answers when the test says so, and a conversation in it. */
async function setUp(t: TestContext, streamsPerCredential?: number) {
	const model = new ManualModel({ autoReply: ({ question }) => (question === 'Hello' ? ['Hi.'] : undefined) });
	const overrides = { providers: [model.provider], ...(streamsPerCredential ? { streamsPerCredential } : {}) };
	const app = await startTestApp({ overrides });
	t.after(() => app[Symbol.asyncDispose]());
	const { deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const begun = await app.callAsVisitor('POST', '/api/v1/widget/messages', {
		deployment_id: deployment,
		content: 'Hello',
	});
	assert.equal(begun.status, 201);
	return { app, model, deployment, conversation: begun.body.conversation_id as string };
}

/** Follows a conversation over a connection of its own, which stays open. */
async function spectator(t: TestContext, app: TestApp, conversation: string): Promise<Socket> {
	const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
	t.after(() => socket.destroy());
	socket.on('error', () => {});
	const path = `/api/v1/conversations/${conversation}/events`;
	socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.key}\r\n\r\n`);
	const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
	assert.match(head, /^HTTP\/1\.1 200 /);
	socket.resume();
	return socket;
}

async function assertRefused(answer: Response, sentence: RegExp): Promise<void> {
	const { error } = (await answer.json()) as { error: { code: string; message: string; retry_after: number } };
	assert.deepEqual([answer.status, error.code], [429, 'rate_limit_exceeded']);
	assert.match(error.message, sentence);
	assert.equal(answer.headers.get('retry-after'), String(error.retry_after));
	assert.ok(error.retry_after > 0);
}

test('rejects followers above the limit, but serves senders of messages and repeats', async (t) => {
	const { app, model, deployment, conversation } = await setUp(t);
	const spectators: Socket[] = [];
	while (spectators.length < FOLLOWERS) {
		const opening = Array.from({ length: OPENING }, () => spectator(t, app, conversation));
		spectators.push(...(await Promise.all(opening)));
	}

	const authorization = { authorization: `Bearer ${app.key}` };
	const asOperator = () => fetch(`${app.url}/api/v1/conversations/${conversation}/events`, { headers: authorization });
	const visitorPath = `/api/v1/widget/conversations/${conversation}/events?deployment_id=${deployment}`;
	await assertRefused(await asOperator(), /1000 clients may follow a conversation/);
	await assertRefused(
		await fetch(app.url + visitorPath, { headers: { origin: ORIGIN } }),
		/1000 clients may follow a conversation/,
	);

	const send = () =>
		openTestStream(`${app.url}/api/v1/widget/messages`, {
			method: 'POST',
			headers: {
				origin: ORIGIN,
				'content-type': 'application/json',
				'idempotency-key': 'a key that only its sender knows',
			},
			body: JSON.stringify({
				deployment_id: deployment,
				conversation_id: conversation,
				content: 'Is it there?',
				stream: true,
			}),
		});
	const sender = await send();
	const reply = await model.reply(1);
	reply.say('It ');
	await sender.until(isNamed('message.delta'));
	const reconnected = await send();
	reply.say('is.');
	reply.end();
	for (const stream of [sender, reconnected]) {
		const events = await stream.rest();
		assert.equal(events.at(-1)?.data.message.content, 'It is.');
	}

	spectators.pop()?.destroy();
	await until('the place of a follower that has left is free', async () => {
		const answer = await asOperator();
		await answer.body?.cancel();
		return answer.status === 200;
	});
});

test('rejects a streamed message of a key at its stream limit without storing it', async (t) => {
	const { app, model, deployment, conversation } = await setUp(t, 3);
	const streams = await Promise.all([1, 2, 3].map(() => follow(app, conversation)));
	const body = { deployment_id: deployment, conversation_id: conversation, content: 'Is it there?' };
	const send = (key: string) =>
		fetch(`${app.url}/api/v1/messages`, {
			method: 'POST',
			headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
			body: JSON.stringify({ ...body, stream: true }),
		});
	await assertRefused(await send(app.key), /At most 3 event streams and replies .* with one API key/);
	const messages = await app.call('GET', `/api/v1/conversations/${conversation}/messages`);
	assert.deepEqual(
		messages.body.data.map(({ content }: { content: string }) => content),
		['Hello', 'Hi.'],
	);

	const other = await app.call('POST', '/api/v1/api-keys', { name: 'Other' });
	const answer = await send(other.body.key);
	assert.equal(answer.status, 200);
	(await model.reply(1)).end();
	await answer.text();

	streams.pop()?.disconnect();
	await until('the place of a stream that was left is free', async () => {
		const stream = await fetch(`${app.url}/api/v1/conversations/${conversation}/events`, {
			headers: { authorization: `Bearer ${app.key}` },
		});
		await stream.body?.cancel();
		return stream.status === 200;
	});
	for (const stream of streams) stream.disconnect();
});
