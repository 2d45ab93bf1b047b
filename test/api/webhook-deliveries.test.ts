import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Clock, deferred } from '../../src/base/index.ts';
import type { Store } from '../../src/store/index.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { assertSigned, type Received, type Receiver, readLog, startReceiver } from '../webhooks/receiver.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource } from './fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A manual clock: deliveries are retried only when a test moves it forward. */
let now = Date.now();
const clock: Clock = { now: () => now };
const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { clock } });
after(() => app[Symbol.asyncDispose]());

const ASSISTANTS = '/api/v1/assistants';
const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
/** A time between past and later events. */
function moment(): string {
	now += 10;
	return new Date(now).toISOString();
}

let renamed = 0;
/** Causes one `assistant.updated` and returns the assistant's name in it. */
async function rename(): Promise<string> {
	now += 10;
	const name = `Guide ${++renamed} – Grüße 👋`;
	// A description may have line separators, which JSON writes as they are.
	const { status } = await app.call('PATCH', `${ASSISTANTS}/${assistant}`, { name, description: 'One.\u2028Two.' });
	assert.equal(status, 200);
	return name;
}

const listed = async (hook: Receiver, query = '') => {
	const { status, body } = await app.call('GET', `${hook.path}/deliveries?order=asc&limit=100${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body.data;
};
/** The deliveries of an endpoint once each has had its first attempt. */
const settled = (hook: Receiver, count: number) =>
	until('the deliveries were attempted', async () => {
		const data = await listed(hook);
		const tried = data.filter(({ attempts }: { attempts: number }) => attempts > 0);
		return tried.length >= count && data;
	});
const detailOf = async (hook: Receiver, id: string) => {
	const { status, body } = await app.call('GET', `${hook.path}/deliveries/${id}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body;
};
const withStatus = (hook: Receiver, id: string, status: string) =>
	until(`the delivery is ${status}`, async () => {
		const detail = await detailOf(hook, id);
		return detail.status === status && detail;
	});
const names = (received: readonly Received[]) => received.map(({ event }) => event.data.name);
const failing = () => ({ status: 500, body: 'x'.repeat(5_000) });
const taking = () => ({ status: 202, body: 'thanks' });

test('the log of an endpoint shows each delivery with its outcome', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	hook.respond = taking;
	const before = moment();
	const name = await rename();
	await hook.waitFor(1);
	const [{ id }] = await settled(hook, 1);
	const detail = await withStatus(hook, id, 'delivered');
	const { attempt_log, event, ...delivery } = detail;
	const [attempt, ...more] = attempt_log;
	assert.equal(more.length, 0);
	const { at, duration_ms, ...rest } = attempt;
	assert.deepEqual(rest, { number: 1, status_code: 202, error: null, answer: 'thanks' });
	assert.ok(at >= before && duration_ms >= 0);
	assert.match(id, /^dlv_[0-9a-hjkmnp-tv-z]{32}$/);
	const { created_at, updated_at, completed_at, ...shown } = delivery;
	assert.deepEqual(shown, {
		id,
		webhook_id: hook.id,
		event_id: event.id,
		event_type: 'assistant.updated',
		status: 'delivered',
		attempts: 1,
		status_code: 202,
		error: null,
		next_attempt_at: null,
		first_attempt_at: at,
	});
	assert.ok(created_at >= before && completed_at >= at && updated_at === completed_at);
	assert.equal(event.data.name, name);
	assert.equal(hook.received[0]?.raw.toString(), JSON.stringify(event), 'the event is shown as it was sent');
	assert.deepEqual(event, (await readLog(app, null)).events.at(-1));
	assert.deepEqual(await listed(hook), [delivery], 'a list shows the same without the attempts');
});

test('a failed delivery waits for its next attempt, can be retried by hand, and keeps every attempt', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	hook.respond = failing;
	await rename();
	const [delivery] = await settled(hook, 1);
	assert.deepEqual(
		[delivery.status, delivery.attempts, delivery.status_code, delivery.error, delivery.completed_at],
		['pending', 1, 500, 'The endpoint answered with status 500.', null],
	);
	const wait = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.updated_at);
	assert.ok(wait >= 4_500 && wait <= 5_500, `the first delay is 5 s ± 10 %, not ${wait} ms`);

	now += MINUTE;
	hook.respond = taking;
	const retried = await app.call('POST', `${hook.path}/deliveries/${delivery.id}/retry`);
	assert.deepEqual([retried.status, retried.body.status, retried.body.attempts], [200, 'pending', 1]);
	assert.equal(retried.body.next_attempt_at, retried.body.updated_at, 'due now');
	assert.equal(retried.body.first_attempt_at, delivery.first_attempt_at, 'its 72 hours continue');
	const done = await withStatus(hook, delivery.id, 'delivered');
	assert.deepEqual([done.attempts, done.status_code, done.error], [2, 202, null]);
	const [first, second] = done.attempt_log;
	assert.deepEqual([first.number, first.status_code, first.answer], [1, 500, 'x'.repeat(2048)]);
	assert.deepEqual([second.number, second.status_code, second.error, second.answer], [2, 202, null, 'thanks']);
	const [one, two] = hook.received as [Received, Received];
	assert.deepEqual(one.raw, two.raw, 'the bytes are the same');
	assert.equal(one.headers['webhook-id'], two.headers['webhook-id']);
	const seconds = ({ headers }: Received) => Number(headers['webhook-timestamp']);
	assert.ok(seconds(two) - seconds(one) >= 60, 'the time is that of the attempt');
});

test('delivers again on request, once under an Idempotency-Key', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	await rename();
	const [{ id }] = await settled(hook, 1);
	const before = await withStatus(hook, id, 'delivered');
	const path = `${hook.path}/deliveries/${id}/retry`;
	const key = { 'idempotency-key': 'again-1' };
	now += MINUTE;
	const first = await app.call('POST', path, undefined, key);
	assert.deepEqual(
		[first.status, first.body.status, first.body.first_attempt_at, first.body.completed_at],
		[200, 'pending', null, null],
	);
	await hook.waitFor(2);
	const after = await withStatus(hook, id, 'delivered');
	assert.ok(after.first_attempt_at > before.first_attempt_at, 'its 72 hours start again');
	assert.deepEqual([after.attempts, after.attempt_log.length], [2, 2]);
	const again = await app.call('POST', path, undefined, key);
	assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [first.body, 'true']);
	assert.equal((await detailOf(hook, id)).status, 'delivered', 'a repeat delivers nothing');
	assert.deepEqual(hook.received[0]?.raw, hook.received[1]?.raw);
	assertSigned({ ...(hook.received[1] as Received) }, hook.signing_secret);
});

test('filters the list by state and type, and pages without gap or repeat', async () => {
	await using hook = await startReceiver(app, ['assistant.updated', 'conversation.created', 'conversation.closed']);
	const { deployment } = await createApiFixture(app);
	const { body: reply } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	await app.call('DELETE', `/api/v1/conversations/${reply.conversation_id}`);
	await rename();
	// The fixture has attached a knowledge base.
	await settled(hook, 4);
	hook.respond = failing;
	await rename();
	const all = await settled(hook, 5);
	assert.deepEqual(
		all.map(({ event_type }: { event_type: string }) => event_type),
		['assistant.updated', 'conversation.created', 'conversation.closed', 'assistant.updated', 'assistant.updated'],
	);
	const ids = (data: Array<{ id: string }>) => data.map(({ id }) => id);
	const [a, b, c, d, e] = ids(all);
	assert.deepEqual(ids(await listed(hook, '&status=delivered')), [a, b, c, d]);
	assert.deepEqual(ids(await listed(hook, '&status=pending')), [e]);
	assert.deepEqual(ids(await listed(hook, '&status=failed')), []);
	assert.deepEqual(ids(await listed(hook, '&event_type=assistant.updated')), [a, d, e]);
	assert.deepEqual(ids(await listed(hook, '&event_type=assistant.updated&status=delivered')), [a, d]);

	const list = `${hook.path}/deliveries`;
	const seen: string[] = [];
	for (let cursor = ''; ; ) {
		const { body } = await app.call('GET', `${list}?limit=2${cursor}`);
		seen.push(...ids(body.data));
		if (body.next_cursor === null) break;
		cursor = `&cursor=${body.next_cursor}`;
	}
	assert.deepEqual(seen, [e, d, c, b, a], 'the newest first');
	const { next_cursor } = (await app.call('GET', `${list}?limit=1`)).body;
	await using other = await startReceiver(app, ['conversation.closed']);
	for (const path of [
		`${list}?status=pending&`,
		`${list}?event_type=assistant.updated&`,
		`${other.path}/deliveries?`,
	]) {
		const { status, body } = await app.call('GET', `${path}cursor=${next_cursor}`);
		assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], path);
	}
	for (const query of ['status=done', 'event_type=ping', 'event_type=*', 'type=assistant.updated']) {
		assert.equal((await app.call('GET', `${list}?${query}`)).status, 400, query);
	}
});

test('a disabled endpoint gets nothing; waiting deliveries are cancelled, and replayed when it is revived', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	const start = moment();
	now += MINUTE;
	hook.respond = failing;
	const waited = await rename();
	const [{ id }] = await settled(hook, 1);
	const disabled = await app.call('PATCH', hook.path, { status: 'disabled' });
	assert.equal(disabled.body.disabled_reason, 'Disabled through the API.');
	const cancelled = await detailOf(hook, id);
	assert.deepEqual([cancelled.status, cancelled.next_attempt_at, cancelled.attempts], ['cancelled', null, 1]);
	assert.ok(cancelled.completed_at >= cancelled.first_attempt_at);

	const missed = await rename();
	assert.equal((await listed(hook)).length, 1, 'events meanwhile are not delivered');
	for (const [path, body] of [
		[`deliveries/${id}/retry`, undefined],
		['replay', { since: start }],
	] as const) {
		const refused = await app.call('POST', `${hook.path}/${path}`, body);
		assert.deepEqual([refused.status, refused.body.error.code], [400, 'webhook_disabled'], path);
		assert.match(refused.body.error.message, /disabled/);
	}
	assert.equal((await detailOf(hook, id)).status, 'cancelled');

	hook.respond = taking;
	const revived = await app.call('PATCH', hook.path, { status: 'active' });
	assert.deepEqual([revived.body.status, revived.body.disabled_reason], ['active', null]);
	assert.equal((await detailOf(hook, id)).status, 'cancelled', 'a cancelled delivery is not sent by itself');
	const later = await rename();
	await hook.waitFor(2);
	assert.deepEqual(names(hook.received), [waited, later]);
	const replayed = await app.call('POST', `${hook.path}/replay`, { since: start });
	assert.deepEqual([replayed.status, replayed.body], [200, { replayed: 3 }]);
	await hook.waitFor(5);
	assert.deepEqual(names(hook.received).slice(2), [waited, missed, later], 'in order, delivered ones included');
	await until('all are delivered', async () =>
		(await listed(hook)).every(({ status }: { status: string }) => status === 'delivered'),
	);
});

test("a replay sends the events of its time range and of the endpoint's types", async () => {
	now += HOUR;
	const before = await rename();
	now += HOUR;
	const since = moment();
	const [first, second] = [await rename(), await rename()];
	const { deployment } = await createApiFixture(app);
	await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	const until_ = moment();
	now += HOUR;
	const last = await rename();
	now += HOUR;
	await using hook = await startReceiver(app, ['assistant.updated']);
	const replay = async (body: unknown, count: number) => {
		const from = hook.received.length;
		const response = await app.call('POST', `${hook.path}/replay`, body);
		assert.deepEqual([response.status, response.body], [200, { replayed: count }], JSON.stringify(body));
		await hook.waitFor(from + count);
		await until('all are delivered', async () =>
			(await listed(hook)).every(({ status }: { status: string }) => status === 'delivered'),
		);
		return names(hook.received.slice(from));
	};
	// `Guide`: the fixture has attached a knowledge base.
	assert.deepEqual(
		await replay({ since, until: until_ }, 3),
		[first, second, 'Guide'],
		'from before it was registered',
	);
	assert.deepEqual(await replay({ since: until_ }, 1), [last]);
	assert.deepEqual(await replay({ since: moment() }, 0), []);
	const { created_at } = (await listed(hook))[0];
	assert.ok(created_at >= until_, 'the delivery is new, the event is old');
	const exact = (await readLog(app, null)).events.find(({ data }) => data.name === before)?.created_at;
	assert.deepEqual(await replay({ since: exact, until: exact }, 1), [before], 'both ends are included');
	assert.deepEqual(
		await replay({ since: new Date(clock.now() + HOUR).toISOString() }, 0),
		[],
		'no event is in the range',
	);

	const wrong: Array<[body: unknown, place: string]> = [
		[{}, '/since'],
		[{ since: 'yesterday' }, '/since'],
		[{ since: until_, until: since }, '/since'],
		[{ since, until: 'now' }, '/until'],
		[{ since, types: ['assistant.updated'] }, '/types'],
	];
	for (const [body, place] of wrong) {
		const { status, body: response } = await app.call('POST', `${hook.path}/replay`, body);
		const paths = response.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([status, response.error?.code, paths], [400, 'invalid_request', [place]], JSON.stringify(body));
	}
});

test('executes a large replay once under an Idempotency-Key', async () => {
	now += HOUR;
	const since = moment();
	await using store = await openStoreDirectly(app);
	const stream = await firstWorkspace(store);
	const count = 450;
	await store.commit({
		events: Array.from({ length: count }, (_, at) => ({
			id: `evt_replayed_${String(at).padStart(4, '0')}`,
			stream,
			type: 'tool.execution_failed',
			data: { at },
			created_at: clock.now(),
		})),
	});
	await using hook = await startReceiver(app, ['tool.execution_failed']);
	const key = { 'idempotency-key': 'replay-1' };
	const replay = () => app.call('POST', `${hook.path}/replay`, { since }, key);
	const responses = await Promise.all([replay(), replay()]);
	for (const { status, body } of responses) assert.deepEqual([status, body], [200, { replayed: count }]);
	await hook.waitFor(count);
	await until('none waits', async () => (await listed(hook, '&status=pending')).length === 0);
	const again = await replay();
	assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [{ replayed: count }, 'true']);
	assert.equal((await listed(hook, '&status=pending')).length, 0);
	assert.equal(hook.received.length, count, 'each was received once');
	const places = hook.received.map(({ event }) => event.data.at);
	assert.deepEqual(
		places.toSorted((a, b) => a - b),
		Array.from({ length: count }, (_, at) => at),
	);
	const reused = await app.call('POST', `${hook.path}/replay`, { since, until: moment() }, key);
	assert.deepEqual([reused.status, reused.body.error.code], [400, 'idempotency_key_reused']);
});

/** Stores events of type `conversation.closed` in one commit. */
async function storeEvents(store: Store, prefix: string, count: number): Promise<void> {
	const stream = await firstWorkspace(store);
	const event = (index: number) => ({
		id: `evt_${prefix}_${index}`,
		stream,
		type: 'conversation.closed' as const,
		data: { index },
		created_at: clock.now(),
	});
	await store.commit({ events: Array.from({ length: count }, (_, index) => event(index)) });
}

test('cancels, and at deletion erases, all deliveries of an endpoint with very many', async () => {
	await using hook = await startReceiver(app, ['conversation.closed']);
	hook.respond = failing;
	await using store = await openStoreDirectly(app);
	const count = 2_300;
	await storeEvents(store, 'many', count);
	const where = { webhook_id: hook.id };
	const deliveries = () => store.list('deliveries', { where, order: 'asc', limit: count + 1 });
	assert.equal((await deliveries()).length, count);
	await app.call('PATCH', hook.path, { status: 'disabled' });
	await until('all are cancelled', async () => (await deliveries()).every(({ status }) => status === 'cancelled'));
	assert.equal((await deliveries()).length, count);
	assert.deepEqual((await app.call('DELETE', hook.path)).body, { id: hook.id, deleted: true });
	await until('all are erased', async () => (await deliveries()).length === 0);
	for (const tail of ['', '/deliveries']) assert.equal((await app.call('GET', hook.path + tail)).status, 404);
});

test('disabling an endpoint cancels all its waiting deliveries, also where it is revived at once', async () => {
	await using hook = await startReceiver(app, ['conversation.closed', 'assistant.updated']);
	hook.respond = failing;
	await using store = await openStoreDirectly(app);
	const count = 3_000;
	await storeEvents(store, 'revived', count);
	assert.equal((await app.call('PATCH', hook.path, { status: 'disabled' })).status, 200);
	hook.respond = taking;
	assert.equal((await app.call('PATCH', hook.path, { status: 'active' })).status, 200);
	await rename();
	const [first] = await hook.waitFor(1);
	assert.equal(first?.event.type, 'assistant.updated', 'no earlier delivery is sent');
	const where = { webhook_id: hook.id };
	const ended = await until('none waits', async () => {
		const all = await store.list('deliveries', { where, order: 'asc', limit: count + 2 });
		return all.every(({ status }) => status !== 'pending') && all;
	});
	const statuses = ended.map(({ status }) => status);
	assert.deepEqual(statuses.toSorted(), [...Array(count).fill('cancelled'), 'delivered']);
});

test('a revival or a change of the URL resets the failures of an endpoint', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	await using store = await openStoreDirectly(app);
	hook.respond = failing;
	await rename();
	await settled(hook, 1);
	const failed = async () => (await store.deliveries.failingSince(hook.id)) !== null;
	const fail = () => store.commit({ write: [{ op: 'record_failure', webhook_id: hook.id, at: clock.now() }] });
	assert.equal(await failed(), true);
	hook.respond = taking;
	await app.call('PATCH', hook.path, { description: 'Ours' });
	assert.equal(await failed(), true, 'another change keeps the failures');
	await app.call('PATCH', hook.path, { url: `${hook.url}/elsewhere` });
	assert.equal(await failed(), false);
	await fail();
	await app.call('PATCH', hook.path, { status: 'disabled' });
	assert.equal(await failed(), true);
	await app.call('PATCH', hook.path, { status: 'active' });
	assert.equal(await failed(), false);
});

test('an endpoint with a new URL has the concurrency of one without failures', async () => {
	await using hook = await startReceiver(app, ['conversation.closed', 'assistant.updated']);
	hook.respond = failing;
	await using store = await openStoreDirectly(app);
	const stream = await firstWorkspace(store);
	const event = (at: number) => ({
		id: `evt_moved_${at}`,
		stream,
		type: 'conversation.closed',
		data: { at },
		subject: `conv_moved_${at}`,
		created_at: clock.now(),
	});
	await store.commit({ events: Array.from({ length: 60 }, (_, at) => event(at)) });
	await rename();
	// Ten deliveries, then two, and two more: the endpoint has failed three times in a row.
	await hook.waitFor(14);
	const holding = deferred<void>();
	let held = 0;
	hook.respond = async () => {
		held += 1;
		await holding.promise;
		return taking();
	};
	await app.call('PATCH', hook.path, { url: `${hook.url}/elsewhere` });
	await until('ten deliveries are in flight', () => held >= 10);
	holding.resolve();
	hook.respond = taking;
});

test('erases the deliveries of a conversation with it', async () => {
	await using hook = await startReceiver(app, ['message.created']);
	const { deployment } = await createApiFixture(app);
	const { body: reply } = await app.call('POST', '/api/v1/messages', {
		deployment_id: deployment,
		content: 'My secret',
	});
	await settled(hook, 2);
	const [{ id }] = await listed(hook);
	assert.match(JSON.stringify(await detailOf(hook, id)), /My secret/);
	await app.call('DELETE', `/api/v1/conversations/${reply.conversation_id}?purge=true`);
	assert.deepEqual(await listed(hook), []);
	for (const [method, tail] of [
		['GET', ''],
		['POST', '/retry'],
	] as const) {
		const { status, body } = await app.call(method, `${hook.path}/deliveries/${id}${tail}`);
		assert.deepEqual([status, body.error.code, body.error.message], [404, 'not_found', 'The delivery does not exist.']);
	}
});

test('shows deliveries of one endpoint and workspace only, and rejects a key without the scope', async () => {
	await using hook = await startReceiver(app, ['assistant.updated']);
	await using beside = await startReceiver(app, ['conversation.closed']);
	await rename();
	const [{ id }] = await settled(hook, 1);
	await using store = await openStoreDirectly(app);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const reader = { authorization: `Bearer ${await addKey(store, await firstWorkspace(store), ['webhooks:read'])}` };
	const since = { since: moment() };
	const operations: Array<[method: string, tail: string, body?: unknown]> = [
		['GET', '/deliveries'],
		['GET', `/deliveries/${id}`],
		['POST', `/deliveries/${id}/retry`],
		['POST', '/replay', since],
	];
	for (const [method, tail, body] of operations) {
		for (const path of [hook.path, `/api/v1/webhooks/wh_${'0'.repeat(32)}`]) {
			const { status, body: response } = await app.call(method, path + tail, body, stranger);
			assert.deepEqual([status, response.error.message], [404, 'The webhook does not exist.'], `${method} ${tail}`);
		}
		const read = await app.call(method, hook.path + tail, body, reader);
		assert.equal(read.status, method === 'GET' ? 200 : 403, `${method} ${tail}`);
		if (tail.includes(id)) {
			const elsewhere = await app.call(method, beside.path + tail, body);
			assert.deepEqual([elsewhere.status, elsewhere.body.error.code], [404, 'not_found'], `${method} ${tail}`);
		}
	}
	for (const odd of ['dlv_1', `dlv_${'0'.repeat(32)}`, hook.id]) {
		assert.equal((await app.call('GET', `${hook.path}/deliveries/${odd}`)).status, 404, odd);
	}
	assert.equal(hook.received.length, 1);
});
