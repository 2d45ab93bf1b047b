import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { AppError, newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type Commit, type EventsReader, openSqliteStore, type Store } from '../../src/store/index.ts';
import { replayEvents } from '../../src/webhooks/index.ts';
import { temporaryPlace } from '../store/contract/life.ts';
import { type Overrides, withOverrides } from '../store/overrides.ts';
import { event, NOON, webhook } from '../store/samples.ts';

const COUNT = 530;

/** A workspace with an endpoint that came after its events. */
async function scene(t: TestContext, times: (at: number) => number = (at) => NOON + at) {
	const dataDir = await temporaryPlace(t);
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	t.after(() => store[Symbol.asyncDispose]());
	const workspace_id = newId('workspace');
	const events = Array.from({ length: COUNT }, (_, at) => ({ ...event(workspace_id), created_at: times(at) }));
	await store.commit({ events });
	const endpoint = webhook({ workspace_id });
	await store.commit({ write: [{ op: 'insert', kind: 'webhooks', record: endpoint }] });
	const woken: string[] = [];
	const replay = (given: Overrides<Store> = {}, since = NOON, until = NOON + COUNT) =>
		replayEvents(
			{
				store: withOverrides(store, given),
				clock: { now: () => NOON + COUNT },
				wake: (id) => woken.push(id),
			},
			{
				endpoint: async () => (await store.get('webhooks', endpoint.id)) ?? assert.fail('the endpoint is gone'),
				since,
				until,
			},
		).commit();
	const deliveries = () =>
		store.list('deliveries', { where: { webhook_id: endpoint.id }, order: 'asc', limit: COUNT + 1 });
	return { store, endpoint, replay, deliveries, woken, events };
}

test('the same replay completes an interrupted one and makes nothing pending twice', async (t) => {
	const { store, replay, deliveries, woken, endpoint } = await scene(t);
	let commits = 0;
	const failing = async (commit: Commit) => {
		if (++commits === 2) throw new AppError('unavailable', 'The disk is full.');
		return store.commit(commit);
	};
	await assert.rejects(replay({ commit: failing }), /The disk is full/);
	const begun = (await deliveries()).length;
	assert.ok(begun > 0 && begun < COUNT, String(begun));
	assert.deepEqual(woken, [endpoint.id]);
	assert.equal(await replay(), COUNT);
	const all = await deliveries();
	assert.equal(all.length, COUNT);
	assert.ok(all.every(({ status, version }) => status === 'pending' && version === 1));
});

test('a replay stops when its endpoint is disabled meanwhile', async (t) => {
	const { store, endpoint, replay, deliveries } = await scene(t);
	let portions = 0;
	const disablingBetween = async (...args: Parameters<EventsReader['after']>) => {
		const page = await store.events.after(...args);
		// After the second portion was read, before it is committed.
		if (++portions === 2) {
			await store.commit({
				write: [
					{ op: 'patch', kind: 'webhooks', id: endpoint.id, set: { status: 'disabled' } },
					{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: NOON, limit: COUNT },
				],
			});
		}
		return page;
	};
	await assert.rejects(replay({ events: { after: disablingBetween } }), { code: 'webhook_disabled' });
	const statuses = new Set((await deliveries()).map(({ status }) => status));
	assert.deepEqual([...statuses], ['cancelled']);
});

test('replays all events from before and after the clock was set back', async (t) => {
	// Half of them while it was an hour fast.
	const { replay, deliveries, events } = await scene(t, (at) => NOON + (at < COUNT / 2 ? 3_600_000 : 0) + at);
	const [since, until] = [NOON + 400, NOON + 3_600_100];
	const expected = events.filter(({ created_at }) => created_at >= since && created_at <= until).map(({ id }) => id);
	assert.equal(expected.length, 231);
	assert.equal(await replay({}, since, until), 231);
	assert.deepEqual((await deliveries()).map(({ event_id }) => event_id).toSorted(), expected.toSorted());
});

test('replays all events that were stored in another order than that of their times', async (t) => {
	// Pairs of neighbours stand the other way round.
	const { replay, deliveries, events } = await scene(t, (at) => NOON + (at ^ 1));
	const [since, until] = [NOON + 100, NOON + 401];
	const expected = events.filter(({ created_at }) => created_at >= since && created_at <= until).map(({ id }) => id);
	assert.equal(expected.length, 302);
	assert.equal(await replay({}, since, until), 302);
	assert.deepEqual((await deliveries()).map(({ event_id }) => event_id).toSorted(), expected.toSorted());
});
