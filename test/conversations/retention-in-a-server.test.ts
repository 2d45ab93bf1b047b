import assert from 'node:assert/strict';
import test from 'node:test';
import { addWorkspace, eventsSoFar, firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { filesContaining } from '../api/traces.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';
import { follow, isNamed, openTestStream } from './streams.ts';

const DAY = 24 * 3_600_000;

test('a retention that is shortened soon takes what is older with it: streams end, and no trace is left', async () => {
	const clock = manualWallClock();
	const held = new ManualModel({ autoReply: ({ question }) => [`You said: ${question}`] });
	await using app = await startTestApp({ overrides: { clock, retentionIntervalMs: 20, providers: [held.provider] } });
	const { deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const send = (content: string, more: object = {}) =>
		app.callAsVisitor(
			'POST',
			'/api/v1/widget/messages',
			{ deployment_id: deployment, content, ...more },
			{ 'idempotency-key': content },
		);
	const keep = async (retention_days: number | null) => {
		const { status } = await app.call('PATCH', '/api/v1/workspace', { retention_days });
		assert.equal(status, 200);
	};
	await keep(365);
	const old = (await send('The word is swordfish.', { metadata: { word: 'swordfish' } })).body.conversation_id;
	clock.advance(3 * DAY);
	const young = (await send('The word is marlin.')).body.conversation_id;
	clock.advance(3 * DAY);

	const path = `/api/v1/conversations/${old}`;
	const ownersStream = await follow(app, old, '0.0');
	await ownersStream.until(isNamed('message.completed'));
	const ofVisitor = `${app.url}/api/v1/widget/conversations/${old}/events?deployment_id=${deployment}`;
	const visitorsStream = await openTestStream(ofVisitor, { headers: { origin: ORIGIN, 'last-event-id': '0.0' } });
	await visitorsStream.until(isNamed('message.completed'));
	assert.ok((await filesContaining(app.dataDir, ['swordfish'])).length > 0);
	assert.equal((await app.call('GET', path)).status, 200, 'within the retention');

	await keep(5);
	assert.deepEqual(await ownersStream.rest(), []);
	assert.deepEqual(await visitorsStream.rest(), []);
	assert.equal((await app.call('GET', path)).status, 404);
	assert.equal((await app.call('GET', `${path}/messages`)).status, 404);
	assert.equal((await send('Hello again', { conversation_id: old })).status, 404);
	await until('every trace is gone', async () => (await filesContaining(app.dataDir, ['swordfish'])).length === 0);
	await using store = await openStoreDirectly(app);
	assert.deepEqual(await store.events.after(old, 0, 10), []);
	const log = JSON.stringify(await eventsSoFar(store, await firstWorkspace(store)));
	assert.ok(!log.includes(old) && log.includes(young), 'as after a purge, the log does not tell of it at all');
	assert.equal((await app.call('GET', `/api/v1/conversations/${young}`)).status, 200);

	// A repeat does not bring the old one back: its key is free again, and begins another.
	const again = await send('The word is swordfish.');
	assert.equal(again.status, 201);
	assert.notEqual(again.body.conversation_id, old);
});

test('what a workspace keeps is no matter of another', async () => {
	const clock = manualWallClock();
	const held = new ManualModel({ autoReply: () => ['Yes.'] });
	await using app = await startTestApp({ overrides: { clock, retentionIntervalMs: 20, providers: [held.provider] } });
	await using store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	const as = (key: string) => ({
		...app,
		key,
		call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
			app.call(method, path, body, { authorization: `Bearer ${key}`, ...headers }),
	});
	const talkIn = async (key: string) => {
		const own = as(key);
		const { deployment } = await createApiFixture(own, { model: 'scripted/any' });
		const { body } = await own.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
		return `/api/v1/conversations/${body.conversation_id}`;
	};
	const mine = await talkIn(app.key);
	const theirs = await talkIn(other.key);
	clock.advance(10 * DAY);
	await as(other.key).call('PATCH', '/api/v1/workspace', { retention_days: 1 });
	await until('it is gone', async () => (await as(other.key).call('GET', theirs)).status === 404);
	assert.equal((await app.call('GET', mine)).status, 200);
});

test('what a deployment keeps is no matter of another', async () => {
	const clock = manualWallClock();
	const held = new ManualModel({ autoReply: () => ['Yes.'] });
	await using app = await startTestApp({ overrides: { clock, retentionIntervalMs: 20, providers: [held.provider] } });
	const { assistant, deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const other = await app.call('POST', '/api/v1/deployments', { assistant_id: assistant });
	const talkIn = async (deployment_id: string) => {
		const { body } = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello?' });
		return `/api/v1/conversations/${body.conversation_id}`;
	};
	const [short, long] = [await talkIn(deployment), await talkIn(other.body.id)];
	const keep = (id: string, retention_days: number | null) =>
		app.call('PATCH', `/api/v1/deployments/${id}`, { retention_days });
	await keep(deployment, 1);
	await keep(other.body.id, 20);
	await app.call('PATCH', '/api/v1/workspace', { retention_days: 5 });
	clock.advance(10 * DAY);
	const young = await talkIn(deployment);
	await until('it is gone', async () => (await app.call('GET', short)).status === 404);
	await keep(deployment, null);
	clock.advance(6 * DAY);
	await until('it is gone as the workspace says', async () => (await app.call('GET', young)).status === 404);
	assert.equal((await app.call('GET', long)).status, 200);
});
