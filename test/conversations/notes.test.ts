import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { ManualModel } from './manual-model.ts';

const SECRET = 'a note that no visitor may read';

const held = new ManualModel({ autoReply: () => ['Said the model.'] });
const app = await startTestApp({
	settings: { allow_private_network: true },
	overrides: { providers: [held.provider] },
});
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, {
	model: 'scripted/any',
	deployment: { features: { handoff: true }, rate_limit: { messages_per_minute: 1000 } },
});

const notesOf = (id: string) => `/api/v1/conversations/${id}/notes`;
const send = (more: object, headers: Record<string, string> = {}) =>
	app.callAsVisitor(
		'POST',
		'/api/v1/widget/messages',
		{ deployment_id: deployment, content: 'Hello?', ...more },
		headers,
	);

async function talk(): Promise<string> {
	return (await send({ stream: false })).body.conversation_id;
}

/** The events of a stream until this one. */
async function eventsUntil(response: Response, last: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent[]> {
	const events: ReceivedEvent[] = [];
	for await (const event of eventsOf(response)) {
		events.push(event);
		if (last(event)) break;
	}
	return events;
}

const follow = (id: string, lastEventId?: string) =>
	fetch(`${app.url}/api/v1/conversations/${id}/events`, {
		headers: {
			authorization: `Bearer ${app.key}`,
			...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
		},
	});

test('a note is listed with its author, sent to followers of the workspace, and deleted', async () => {
	const id = await talk();
	const stream = await follow(id);
	const made = await app.call('POST', notesOf(id), { content: SECRET });
	assert.deepEqual([made.status, made.body.content, made.body.author.name], [201, SECRET, 'First key']);
	await app.call('POST', notesOf(id), { content: 'Second.' });
	const { body } = await app.call('GET', notesOf(id));
	assert.deepEqual(
		body.data.map(({ content }: { content: string }) => content),
		[SECRET, 'Second.'],
	);
	const path = `${notesOf(id)}/${made.body.id}`;
	assert.deepEqual((await app.call('DELETE', path)).body, { id: made.body.id, deleted: true });
	assert.equal((await app.call('DELETE', path)).status, 404);
	const events = await eventsUntil(stream, ({ event }) => event === 'note.deleted');
	assert.deepEqual(
		events.map(({ event, data }) => [event, data.note?.content ?? data.note_id]),
		[
			['note.created', SECRET],
			['note.created', 'Second.'],
			['note.deleted', made.body.id],
		],
	);
	const replayed = await eventsUntil(await follow(id, '0.0'), ({ event }) => event === 'note.deleted');
	assert.equal(JSON.stringify(replayed).includes(SECRET), false, 'a deleted note is in no replay');
});

test('a note changes neither the conversation nor what the workspace’s log and webhooks have', async () => {
	await using receiver = await startReceiver(app);
	const id = await talk();
	const before = (await app.call('GET', `/api/v1/conversations/${id}`)).body;
	await app.call('POST', notesOf(id), { content: SECRET });
	assert.deepEqual((await app.call('GET', `/api/v1/conversations/${id}`)).body, before);
	await send({ conversation_id: id, stream: false });
	const log = await app.call('GET', '/api/v1/events?limit=100');
	assert.equal(JSON.stringify(log.body).includes(SECRET), false);
	const deliveries = await app.call('GET', `${receiver.path}/deliveries?limit=100`);
	assert.equal(JSON.stringify([deliveries.body, receiver.received]).includes(SECRET), false);
});

test('no visitor’s route and no request to the model has a note', async () => {
	const id = await talk();
	const at = `deployment_id=${deployment}`;
	const path = `/api/v1/widget/conversations/${id}`;
	const live = await fetch(`${app.url}${path}/events?${at}`, { headers: { origin: ORIGIN } });
	await app.call('POST', notesOf(id), { content: SECRET });
	const key = { 'idempotency-key': 'an unguessable test key' };
	const streamed = await fetch(`${app.url}/api/v1/widget/messages`, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: deployment, conversation_id: id, content: 'Streamed?', stream: true }),
	});
	const isEnd = ({ event }: ReceivedEvent) => event === 'message.completed';
	const replay = () =>
		fetch(`${app.url}${path}/events?${at}&last_event_id=0.0`, { headers: { origin: ORIGIN } }).then((response) =>
			eventsUntil(response, isEnd),
		);
	const whole = await send({ conversation_id: id, stream: false }, key);
	const seen: unknown[] = [
		await eventsUntil(streamed, isEnd),
		await eventsUntil(live, isEnd),
		await replay(),
		whole.body,
		(await send({ conversation_id: id, stream: false }, key)).body,
		(await app.callAsVisitor('GET', `${path}/messages?${at}`)).body,
		(await app.callAsVisitor('GET', `/api/v1/widget/config?${at}`)).body,
		(await app.callAsVisitor('POST', `${path}/request-person`, { deployment_id: deployment })).body,
		(await app.callAsVisitor('POST', `${path}/stop`, { deployment_id: deployment })).body,
		(
			await app.callAsVisitor('POST', `/api/v1/widget/messages/${whole.body.id}/feedback`, {
				...{ deployment_id: deployment, rating: 'up' },
			})
		).body,
		held.replies.map(({ request }) => request),
	];
	for (const part of seen) {
		assert.equal(JSON.stringify(part).includes(SECRET), false);
		assert.equal(/note/.test(JSON.stringify(part)), false, 'not even its event');
	}
	for (const visitor of [notesOf(id), `${path}/notes?${at}`]) {
		assert.ok([401, 404].includes((await app.callAsVisitor('GET', visitor)).status));
	}
});

test('notes are erased with their conversation, and another workspace’s conversation is a 404', async () => {
	const id = await talk();
	const { body } = await app.call('POST', notesOf(id), { content: SECRET });
	const other = await talk();
	assert.equal((await app.call('DELETE', `${notesOf(other)}/${body.id}`)).status, 404, 'of another conversation');
	await app.call('DELETE', `/api/v1/conversations/${id}?purge=true`);
	for (const [method, path] of [
		['GET', notesOf(id)],
		['POST', notesOf(id)],
		['DELETE', `${notesOf(id)}/${body.id}`],
	] as const) {
		const answer = await app.call(method, path, method === 'POST' ? { content: 'Hm.' } : undefined);
		assert.equal(answer.status, 404, `${method} ${path}`);
	}
});
