import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';

const held = new ManualModel({ autoReply: () => ['Said the model.'] });
const app = await startTestApp({ overrides: { providers: [held.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, {
	model: 'scripted/any',
	deployment: { features: { handoff: true }, rate_limit: { messages_per_minute: 1000 } },
});

/** The headers of a person who is signed in. */
async function signIn(email: string, name: string): Promise<Record<string, string>> {
	const { body: user } = await app.call('POST', '/api/v1/users', { email, name });
	const token = new URL(user.password_link).hash.slice(1);
	const password = 'correct horse battery';
	await app.call('POST', '/api/v1/session/password', { token, password }, { authorization: '', origin: app.url });
	const response = await fetch(`${app.url}/api/v1/session`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', origin: app.url },
		body: JSON.stringify({ email, password }),
	});
	assert.equal(response.status, 201, await response.clone().text());
	return { authorization: '', cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url };
}

const anna = await signIn('anna@shop.example', 'Anna');
const bob = await signIn('bob@shop.example', 'Bob');

async function talk(): Promise<string> {
	const message = { deployment_id: deployment, content: 'Hello?', stream: false };
	return (await app.callAsVisitor('POST', '/api/v1/widget/messages', message)).body.conversation_id;
}
/** What a visitor sees while no person is in the conversation and none was asked for. */
const NO_PEOPLE = {
	handled_by: 'model',
	person: null,
	requested_person_at: null,
	people_available: null,
	has_email: false,
};
const at = (id: string) => `/api/v1/conversations/${id}`;
const setState = (id: string, state: string, who: Record<string, string>) =>
	app.call('POST', `${at(id)}/presence`, { state }, who);
const request = (id: string, more: object = {}) =>
	app.callAsVisitor('POST', `/api/v1/widget/conversations/${id}/request-person`, {
		deployment_id: deployment,
		...more,
	});

/** The last `presence` event of a stream, and how many events it had. */
function watch(response: Response) {
	const seen: Array<{ event: string | undefined; data: Record<string, unknown> }> = [];
	const events = eventsOf(response);
	void (async () => {
		for await (const { event, data } of events) seen.push({ event, data });
	})().catch(() => {});
	const presence = () => seen.filter(({ event }) => event === 'presence').map(({ data }) => data);
	return { seen, presence, last: () => presence().at(-1) };
}
const asVisitor = async (id: string) =>
	watch(
		await fetch(`${app.url}/api/v1/widget/conversations/${id}/events?deployment_id=${deployment}`, {
			headers: { origin: ORIGIN },
		}),
	);
const asPerson = async (id: string, headers: Record<string, string>) =>
	watch(await fetch(`${app.url}${at(id)}/events`, { headers }));

test('people see who else looks at a conversation or types in it, and visitors see neither', async () => {
	const id = await talk();
	const [mine, visitors] = [await asPerson(id, anna), await asVisitor(id)];
	const { body } = await setState(id, 'looking', anna);
	assert.deepEqual(
		body.people.map(({ name, state }: { name: string; state: string }) => [name, state]),
		[['Anna', 'looking']],
	);
	await setState(id, 'typing', bob);
	await until('both are shown', () => JSON.stringify(mine.last() ?? '').includes('typing'));
	const people = (mine.last()?.people ?? []) as Array<{ name: string; state: string }>;
	assert.deepEqual(
		people.map(({ name, state }) => [name, state]),
		[
			['Anna', 'looking'],
			['Bob', 'typing'],
		],
	);
	await setState(id, 'left', bob);
	await setState(id, 'left', anna);
	await until(
		'no one is shown',
		() => JSON.stringify(mine.last()) === JSON.stringify({ type: 'presence', people: [] }),
	);
	assert.deepEqual(visitors.seen, []);
});

test('the history has the people, and the stream says that an e-mail address was left in a message', async () => {
	const id = await talk();
	const history = async () =>
		(await app.callAsVisitor('GET', `/api/v1/widget/conversations/${id}/messages?deployment_id=${deployment}`)).body;
	assert.deepEqual((await history()).people, NO_PEOPLE);
	const { body: requested } = await request(id);
	const { conversation_id: _, ...people } = requested;
	assert.deepEqual((await history()).people, people);
	const visitors = await asVisitor(id);
	await until('the request is shown', () => visitors.last()?.has_email === false);
	await app.callAsVisitor('POST', '/api/v1/widget/messages', {
		...{ deployment_id: deployment, conversation_id: id, stream: false },
		content: 'My address is ada@example.com',
	});
	await until('the address is shown', () => visitors.last()?.has_email === true);
	assert.equal((await history()).people.has_email, true);
});

test('the visitor sees who has taken over, and only that person type', async () => {
	const id = await talk();
	const visitors = await asVisitor(id);
	await app.call('POST', `${at(id)}/takeover`, undefined, anna);
	await until('the takeover is shown', () => visitors.last()?.handled_by === 'human');
	assert.deepEqual(visitors.last()?.person, { name: 'Anna', typing: false });
	await setState(id, 'typing', bob);
	await setState(id, 'typing', anna);
	await until('Anna types', () => JSON.stringify(visitors.last()).includes('"typing":true'));
	assert.equal(JSON.stringify(visitors.seen).includes('Bob'), false);
	const late = await asVisitor(id);
	await until('a later follower gets the state', () => late.last() !== undefined);
	assert.deepEqual(late.last()?.person, { name: 'Anna', typing: true });
	await app.call('POST', `${at(id)}/messages`, { content: 'This is Anna.' }, anna);
	await until('Anna has sent it', () => JSON.stringify(visitors.last()).includes('"typing":false'));
	await app.call('POST', `${at(id)}/release`, undefined, anna);
	await until('the release is shown', () => visitors.last()?.handled_by === 'model');
	assert.equal(visitors.last()?.person, null);
});

test('a request says whether a person has the dashboard open, and the stream says when one comes', async () => {
	const id = await talk();
	const visitors = await asVisitor(id);
	assert.equal((await request(id)).body.people_available, false);
	await until('the request is shown', () => visitors.last()?.people_available === false);
	const byKey = new AbortController();
	const log = `${app.url}/api/v1/events?stream=true`;
	await fetch(log, { headers: { authorization: `Bearer ${app.key}` }, signal: byKey.signal });
	assert.equal((await request(id)).body.people_available, false, 'a key is no person');
	const dashboard = new AbortController();
	await fetch(log, { headers: { cookie: anna.cookie as string }, signal: dashboard.signal });
	await until('a person is there', () => visitors.last()?.people_available === true);
	dashboard.abort();
	byKey.abort();
	assert.equal((await request(id)).body.people_available, true, 'a reload is no absence');
	const { body } = await request(id, { withdraw: true });
	assert.deepEqual([body.requested_person_at, body.people_available], [null, null]);
	await until('the withdrawal is shown', () => visitors.last()?.requested_person_at === null);
});

test('a state that is not repeated ends', async () => {
	const { Presence } = await import('../../src/conversations/presence.ts');
	using presence = new Presence({ looking: 60_000, typing: 5 });
	let changes = 0;
	const end = presence.onChange('conv_1', () => changes++);
	presence.set('conv_1', { id: 'user_1', name: 'Anna' }, 'typing');
	presence.set('conv_1', { id: 'user_1', name: 'Anna' }, 'typing');
	assert.equal(changes, 1, 'a repeat is no change');
	// The timer is not referenced: something else keeps the process alive meanwhile.
	await until('it has ended', () => presence.peopleIn('conv_1').length === 0);
	assert.equal(changes, 2);
	end();
});
