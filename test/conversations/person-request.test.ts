import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture, createResource, untilConversation } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { recordEvents } from '../webhooks/event-recorder.ts';
import { ManualModel } from './manual-model.ts';

const held = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['Said the model.']),
});
const app = await startTestApp({
	settings: { allow_private_network: true },
	overrides: { providers: [held.provider] },
});
const { assistant, deployment } = await createApiFixture(app, {
	model: 'scripted/any',
	deployment: { features: { handoff: true }, rate_limit: { messages_per_minute: 1000 } },
});
const log = await recordEvents(app);
after(async () => {
	await app[Symbol.asyncDispose]();
	await log[Symbol.asyncDispose]();
});

const CONVERSATIONS = '/api/v1/conversations';

const send = (content: string, conversation_id?: string, deployment_id = deployment) =>
	app.callAsVisitor('POST', '/api/v1/widget/messages', {
		...{ deployment_id, content, stream: false },
		...(conversation_id ? { conversation_id } : {}),
	});
const request = (id: string, more: object = {}, deployment_id = deployment) =>
	app.callAsVisitor('POST', `/api/v1/widget/conversations/${id}/request-person`, { deployment_id, ...more });
const get = async (id: string) => (await app.call('GET', `${CONVERSATIONS}/${id}`)).body;
const takeOver = (id: string) => app.call('POST', `${CONVERSATIONS}/${id}/takeover`);
const waitingIds = async (filter = 'true'): Promise<string[]> =>
	(await app.call('GET', `${CONVERSATIONS}?requested_person=${filter}&limit=100`)).body.data.map(
		({ id }: { id: string }) => id,
	);

async function talk(): Promise<string> {
	const { status, body } = await send('Hello?');
	assert.equal(status, 201, JSON.stringify(body));
	return body.conversation_id;
}

test('a request for a person is stored once, is listed, and a takeover ends it', async () => {
	const id = await talk();
	assert.deepEqual(await waitingIds(), []);
	let first: unknown;
	const events = await log.eventsFrom(async () => {
		const { status, body } = await request(id);
		assert.deepEqual([status, body.handled_by, body.has_email], [200, 'model', false]);
		first = body.requested_person_at;
		assert.equal((await request(id)).body.requested_person_at, first);
	});
	assert.equal(typeof first, 'string');
	assert.deepEqual(
		events.map(({ type, data }) => [type, data.requested_person_at]),
		[['conversation.updated', first]],
	);
	assert.deepEqual([await waitingIds(), (await waitingIds('false')).includes(id)], [[id], false]);
	const taken = await takeOver(id);
	assert.deepEqual([taken.body.requested_person_at, taken.body.taken_over_by.name], [null, 'First key']);
	assert.deepEqual(await waitingIds(), []);
	const again = await request(id);
	assert.deepEqual([again.status, again.body.handled_by, again.body.requested_person_at], [200, 'human', null]);
	const released = await app.call('POST', `${CONVERSATIONS}/${id}/release`);
	assert.deepEqual([released.body.taken_over_by, released.body.requested_person_at], [null, null]);
	assert.equal(typeof (await request(id)).body.requested_person_at, 'string');
});

test('the visitor may leave an e-mail address, and withdraw both', async () => {
	const id = await talk();
	assert.equal((await request(id, { email: 'no address' })).status, 400);
	assert.equal((await request(id, { email: 'ada@example.com' })).body.has_email, true);
	assert.equal((await request(id)).body.has_email, true, 'a repeat keeps it');
	assert.equal((await get(id)).contact_email, 'ada@example.com');
	const { body } = await request(id, { withdraw: true });
	assert.deepEqual([body.requested_person_at, body.has_email], [null, false]);
	const { requested_person_at, contact_email, version: _ } = await get(id);
	assert.deepEqual([requested_person_at, contact_email], [null, null]);
	assert.equal((await request(id, { withdraw: true })).status, 200, 'there is nothing to withdraw');
});

test('the address stays with the person who takes over, and is erased with the conversation', async () => {
	const id = await talk();
	await request(id, { email: 'ada@example.com' });
	assert.equal((await takeOver(id)).body.contact_email, 'ada@example.com');
	await app.call('DELETE', `${CONVERSATIONS}/${id}?purge=true`);
	const { body } = await app.call('GET', '/api/v1/events?limit=100');
	assert.equal(JSON.stringify(body).includes(id), false);
});

test('asking in words sets the request in the commit of the message, and the reply says so without asking the model', async () => {
	const asked = held.replies.length;
	let id = '';
	const events = await log.eventsFrom(async () => {
		const { body } = await send('I want to talk to a human');
		assert.match(body.content, /^I have asked a person to join this conversation/);
		id = body.conversation_id;
	});
	assert.deepEqual(
		events.map(({ type }) => type),
		['conversation.created', 'conversation.updated', 'message.created', 'message.created'],
	);
	assert.equal(held.replies.length, asked);
	assert.equal(typeof (await get(id)).requested_person_at, 'string');
	await request(id, { withdraw: true });
	assert.match(
		(await send('Kann ich mit einem Menschen sprechen?', id)).body.content,
		/^Ich habe einen Menschen gebeten/,
	);
	const { requested_person_at } = await get(id);
	assert.equal(typeof requested_person_at, 'string');
	await send('Kann ich mit einem Menschen sprechen?', id);
	assert.equal((await get(id)).requested_person_at, requested_person_at, 'the visitor waits since the first request');
});

test('while no person is there, the reply asks for an e-mail address, and the next message may leave it', async () => {
	const { body } = await send('Kann ich mit einem Menschen sprechen?');
	assert.match(body.content, /gerade ist niemand da; schreiben Sie hier Ihre E-Mail-Adresse/);
	const id = body.conversation_id;
	const asked = held.replies.length;
	const left = await send('ada@example.com, danke!', id);
	assert.equal(left.body.content, 'Danke, wir antworten an diese Adresse.');
	assert.equal(held.replies.length, asked);
	assert.equal((await get(id)).contact_email, 'ada@example.com');
	assert.doesNotMatch((await send('Kann ich mit einem Menschen sprechen?', id)).body.content, /niemand/);
	const other = await send('My address is bob@example.com');
	assert.equal((await get(other.body.conversation_id)).contact_email, null, 'this visitor waits for no person');
	assert.equal((await send('Is ada@example.com your address?', id)).body.content, 'Said the model.');
});

test('a question beside the request is answered first', async () => {
	const { body } = await send('How long is the warranty? I want to talk to a human.');
	assert.match(body.content, /^Said the model\.\n\nI have asked a person/);
	assert.equal(typeof (await get(body.conversation_id)).requested_person_at, 'string');
});

test('where the feature is off, a request is refused and words mean nothing', async () => {
	const other = await createResource(app, '/api/v1/deployments', {
		assistant_id: assistant,
		allowed_domains: ['shop.example'],
	});
	const { body } = await send('I want to talk to a human', undefined, other);
	assert.equal(body.content, 'Said the model.');
	const id = body.conversation_id;
	assert.equal((await get(id)).requested_person_at, null);
	const refused = await request(id, {}, other);
	assert.deepEqual([refused.status, refused.body.error.code], [400, 'handoff_disabled']);
	assert.equal((await request(id)).status, 404, 'through another deployment');
	assert.equal((await request('conv_unknown')).status, 404);
});

test('a request during a reply is stored at once and the reply goes on', async () => {
	const asked = held.replies.length;
	const sending = send('Wait, model?');
	const reply = await held.reply(asked);
	const { id } = await untilConversation(app, 'Wait, model?');
	const { body } = await request(id);
	assert.equal(typeof body.requested_person_at, 'string');
	reply.say('Done.');
	reply.end();
	assert.deepEqual([(await sending).body.status, (await sending).body.content], ['completed', 'Done.']);
	assert.equal((await get(id)).requested_person_at, body.requested_person_at);
});

test('an archived conversation takes no request, and lets one be withdrawn', async () => {
	const id = await talk();
	await request(id);
	await app.call('DELETE', `${CONVERSATIONS}/${id}`);
	assert.equal((await request(id)).body.error.code, 'conversation_archived');
	assert.equal((await request(id, { withdraw: true })).body.requested_person_at, null);
});
