import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Commit, DeliveryRecord, NewEvent, Store, WebhookRecord, Write } from '../../../src/store/index.ts';
import { assistant, conversation, deliveryAttempt, event, NOON, webhook } from '../samples.ts';
import { type OpenStore, temporaryPlace } from './life.ts';

const DAY = 24 * 3_600_000;

/** Deliveries start with their event, end with their endpoint, and are erased with either. Each test has its own store. */
export function deliveryContract(open: OpenStore): void {
	const fresh = async (t: TestContext): Promise<Store> => {
		const place = await temporaryPlace(t);
		const store = await open(place);
		t.after(() => store[Symbol.asyncDispose]());
		return store;
	};

	test('an event is due at once at each active endpoint of its workspace that subscribes to its type', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [asked, all, several] = await register(store, [
			{ workspace_id },
			{ workspace_id, events: ['*'] },
			{ workspace_id, events: ['conversation.closed', 'message.created'] },
		]);
		const [other, disabled, foreign] = await register(store, [
			{ workspace_id, events: ['conversation.closed', 'message.createdX'] },
			{ workspace_id, status: 'disabled' },
			{ events: ['*'] },
		]);
		const subject = newId('conversation');
		const told = { ...event(workspace_id), subject };
		const [seq] = await stored(store, [told]);
		for (const { id } of [asked, all, several]) {
			const [delivery, ...more] = await deliveriesOf(store, id);
			assert.equal(more.length, 0);
			const { id: delivery_id, ...rest } = delivery ?? assert.fail(`${id} has no delivery`);
			assert.match(delivery_id, /^dlv_[0-9a-hjkmnp-tv-z]{32}$/);
			assert.deepEqual(rest, {
				version: 1,
				workspace_id,
				webhook_id: id,
				event_seq: seq,
				event_id: told.id,
				event_type: 'message.created',
				subject,
				status: 'pending',
				attempts: 0,
				failures: 0,
				first_attempt_at: null,
				due_at: 0,
				status_code: null,
				error: null,
				created_at: NOON,
				updated_at: NOON,
				completed_at: null,
			});
		}
		for (const { id } of [other, disabled, foreign]) assert.deepEqual(await deliveriesOf(store, id), []);
		const waiting = [asked.id, all.id, several.id].toSorted();
		const found = async (workspace: string | null) =>
			(await store.deliveries.webhooksWithPending(workspace)).map(({ id }) => id).toSorted();
		assert.deepEqual(await found(workspace_id), waiting);
		const beside = await backlog(store, 1);
		assert.deepEqual(await found(workspace_id), waiting);
		assert.deepEqual(await found(null), [...waiting, beside.endpoint.id].toSorted());
	});

	test('events of a conversation’s stream are not delivered to webhooks', async (t) => {
		const store = await fresh(t);
		const [endpoint] = await register(store, [{ events: ['*'] }]);
		await stored(store, [event(newId('conversation'), 'message.completed')]);
		assert.deepEqual(await deliveriesOf(store, endpoint.id), []);
	});

	test('a refused commit and a replayed response add no deliveries', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [endpoint] = await register(store, [{ workspace_id }]);
		const gone = { kind: 'assistants' as const, id: newId('assistant'), version: 1 };
		const conflict = await store.commit({ expect: [gone], events: [event(workspace_id)] });
		assert.equal(conflict.outcome, 'conflict');
		const idempotency = { scope: workspace_id, key: 'once', body_hash: 'hash', status: 200, body: '{}' };
		const answered: Commit = {
			events: [event(workspace_id)],
			idempotency: { ...idempotency, expires_at: Date.now() + DAY },
		};
		assert.equal((await store.commit(answered)).outcome, 'committed');
		const replay = await store.commit({ ...answered, events: [event(workspace_id)] });
		assert.equal(replay.outcome, 'replay');
		assert.equal((await deliveriesOf(store, endpoint.id)).length, 1);
	});

	test('an endpoint that is registered or disabled in the same commit counts as it is afterwards', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [leaving] = await register(store, [{ workspace_id }]);
		const coming = webhook({ workspace_id });
		await store.commit({
			write: [
				{ op: 'patch', kind: 'webhooks', id: leaving.id, set: { status: 'disabled' } },
				{ op: 'insert', kind: 'webhooks', record: coming },
			],
			events: [event(workspace_id)],
		});
		assert.deepEqual(await deliveriesOf(store, leaving.id), []);
		assert.equal((await deliveriesOf(store, coming.id)).length, 1);
	});

	test('returns due retries by time and due first attempts in the order of the log', async (t) => {
		const store = await fresh(t);
		const { endpoint, deliveries } = await backlog(store, 6);
		const [first, second, third] = deliveries;
		await change(store, first, { due_at: NOON + 300, attempts: 1 });
		await change(store, second, { due_at: NOON + 200, attempts: 3 });
		await change(store, third, { due_at: NOON + 900, attempts: 1 });
		const due = async (now: number, limit = 10) => {
			const { retries, firstAttempts } = await store.deliveries.due(endpoint.id, now, limit);
			return { retries: numbers(retries, deliveries), firstAttempts: numbers(firstAttempts, deliveries) };
		};
		assert.deepEqual(await due(NOON + 199), { retries: [], firstAttempts: [3, 4, 5] });
		assert.deepEqual(await due(NOON + 200), { retries: [1], firstAttempts: [3, 4, 5] });
		assert.deepEqual(await due(NOON + 899), { retries: [1, 0], firstAttempts: [3, 4, 5] });
		assert.deepEqual(await due(NOON + 900, 2), { retries: [1, 0], firstAttempts: [3, 4] });
		assert.deepEqual(await due(NOON + 900), { retries: [1, 0, 2], firstAttempts: [3, 4, 5] });

		assert.equal(await store.deliveries.nextDueAfter(endpoint.id, -1), 0);
		assert.equal(await store.deliveries.nextDueAfter(endpoint.id, 0), NOON + 200);
		assert.equal(await store.deliveries.nextDueAfter(endpoint.id, NOON + 200), NOON + 300);
		assert.equal(await store.deliveries.nextDueAfter(endpoint.id, NOON + 900), null);
		for (const delivery of deliveries) await change(store, delivery, { status: 'delivered', due_at: null });
		assert.deepEqual(await due(NOON + DAY), { retries: [], firstAttempts: [] });
		assert.equal(await store.deliveries.nextDueAfter(endpoint.id, -1), null);
		assert.deepEqual(await store.deliveries.webhooksWithPending(null), []);
	});

	test('lists endpoints with pending deliveries and when the first of them is due', async (t) => {
		const store = await fresh(t);
		const { endpoint, deliveries, workspace_id } = await backlog(store, 3);
		const due = async () => {
			const [all, own] = [
				await store.deliveries.webhooksWithPending(null),
				await store.deliveries.webhooksWithPending(workspace_id),
			];
			assert.deepEqual(all, own);
			return own;
		};
		assert.deepEqual(await due(), [{ id: endpoint.id, due_at: 0 }]);
		for (const [at, delivery] of deliveries.entries()) await change(store, delivery, { due_at: NOON + 300 - at });
		assert.deepEqual(await due(), [{ id: endpoint.id, due_at: NOON + 298 }]);
		await change(store, deliveries[2], { status: 'cancelled', due_at: null });
		assert.deepEqual(await due(), [{ id: endpoint.id, due_at: NOON + 299 }]);
	});

	test('cancels only pending deliveries, in batches', async (t) => {
		const store = await fresh(t);
		const { endpoint, deliveries, workspace_id } = await backlog(store, 5);
		const [beside] = await register(store, [{ workspace_id }]);
		await stored(store, [event(workspace_id)]);
		await change(store, deliveries[0], { status: 'delivered', due_at: null, completed_at: NOON });
		await change(store, deliveries[1], { due_at: NOON + 5, attempts: 1 });
		assert.deepEqual(await store.deliveries.webhooksNeedingCleanup(), { disabled: [], deleted: [] });
		await patchWebhook(store, endpoint.id, { status: 'disabled' });
		assert.deepEqual(await store.deliveries.webhooksNeedingCleanup(), { disabled: [endpoint.id], deleted: [] });
		const cancel = (limit: number) =>
			store.commit({ write: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: NOON + 9, limit }] });
		await cancel(3);
		const statuses = async () => (await deliveriesOf(store, endpoint.id)).map(({ status }) => status);
		assert.deepEqual(await statuses(), ['delivered', 'pending', 'cancelled', 'cancelled', 'cancelled', 'pending']);
		await cancel(3);
		assert.deepEqual(await statuses(), ['delivered', ...Array(5).fill('cancelled')]);
		const [, tried] = await deliveriesOf(store, endpoint.id);
		assert.deepEqual(
			[tried?.due_at, tried?.completed_at, tried?.updated_at, tried?.attempts, tried?.version],
			[null, NOON + 9, NOON + 9, 1, 3],
		);
		assert.deepEqual(await store.deliveries.webhooksNeedingCleanup(), { disabled: [], deleted: [] });
		assert.deepEqual(
			(await deliveriesOf(store, beside.id)).map(({ status }) => status),
			['pending'],
		);
	});

	test('erases the deliveries of a deleted endpoint in batches, with their attempts and its failures', async (t) => {
		const store = await fresh(t);
		const { endpoint, deliveries, workspace_id } = await backlog(store, 5);
		const [beside] = await register(store, [{ workspace_id }]);
		await stored(store, [event(workspace_id)]);
		const [kept] = await deliveriesOf(store, beside.id);
		for (const delivery of [...deliveries, kept]) await attempt(store, delivery);
		await store.commit({
			write: [endpoint, beside].map(({ id }) => ({ op: 'record_failure', webhook_id: id, at: NOON })),
		});
		const erase = (limit: number) =>
			store.commit({ write: [{ op: 'erase_deliveries', webhook_id: endpoint.id, limit }] });
		await store.commit({
			write: [
				{ op: 'remove', kind: 'webhooks', id: endpoint.id },
				{ op: 'erase_deliveries', webhook_id: endpoint.id, limit: 4 },
			],
		});
		assert.deepEqual(await store.deliveries.webhooksNeedingCleanup(), { disabled: [], deleted: [endpoint.id] });
		await erase(4);
		assert.deepEqual(await store.deliveries.webhooksNeedingCleanup(), { disabled: [], deleted: [] });
		assert.deepEqual(await deliveriesOf(store, endpoint.id), []);
		for (const { id } of deliveries) assert.equal((await attemptsOf(store, id)).length, 0);
		assert.equal(await store.deliveries.failingSince(endpoint.id), null);
		assert.equal((await attemptsOf(store, kept?.id)).length, 1);
		assert.equal(await store.deliveries.failingSince(beside.id), NOON);
	});

	test('an endpoint is failing since its first failure after the last success', async (t) => {
		const store = await fresh(t);
		const [endpoint] = await register(store, [{}]);
		const note = (at: number, webhook_id = endpoint.id) =>
			store.commit({ write: [{ op: 'record_failure', webhook_id, at }] });
		assert.equal(await store.deliveries.failingSince(endpoint.id), null);
		await note(NOON);
		await note(NOON + 1);
		assert.equal(await store.deliveries.failingSince(endpoint.id), NOON);
		await store.commit({ write: [{ op: 'clear_failures', webhook_id: endpoint.id }] });
		assert.equal(await store.deliveries.failingSince(endpoint.id), null);
		await note(NOON + 2);
		assert.equal(await store.deliveries.failingSince(endpoint.id), NOON + 2);
		const unknown = newId('webhook');
		await note(NOON, unknown);
		assert.equal(
			await store.deliveries.failingSince(unknown),
			null,
			'nothing is kept of an endpoint that is not there',
		);
	});

	test('a replay restarts ended deliveries, keeps pending ones and adds missing ones', async (t) => {
		const store = await fresh(t);
		const { endpoint, deliveries, workspace_id } = await backlog(store, 3);
		const [ended, waiting, , ...none] = deliveries;
		assert.equal(none.length, 0);
		await change(store, ended, {
			status: 'delivered',
			due_at: null,
			attempts: 2,
			failures: 1,
			first_attempt_at: NOON,
			status_code: 200,
			completed_at: NOON + 1,
		});
		await change(store, waiting, { due_at: NOON + 50, attempts: 1, failures: 1, first_attempt_at: NOON });
		const [late] = await register(store, [{ workspace_id, events: ['conversation.closed'] }]);
		const seqs = deliveries.map(({ event_seq }) => event_seq);
		const before = await deliveriesOf(store, endpoint.id);
		for (const webhook_id of [endpoint.id, late.id]) {
			await store.commit({ write: [{ op: 'redeliver', webhook_id, seqs: [...seqs, 999_999], at: NOON + 77 }] });
		}
		const [again, still, third, ...more] = await deliveriesOf(store, endpoint.id);
		assert.equal(more.length, 0);
		assert.deepEqual(again, {
			...before[0],
			version: 3,
			status: 'pending',
			due_at: 0,
			failures: 0,
			first_attempt_at: null,
			completed_at: null,
			updated_at: NOON + 77,
		});
		assert.deepEqual([still, third], before.slice(1));
		const made = await deliveriesOf(store, late.id);
		assert.deepEqual(
			made.map(({ event_seq, event_id, status, created_at }) => ({ event_seq, event_id, status, created_at })),
			before.map(({ event_seq, event_id }) => ({ event_seq, event_id, status: 'pending', created_at: NOON + 77 })),
		);
	});

	test('erases old events in batches with deliveries and attempts, except those with pending deliveries', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [endpoint] = await register(store, [{ workspace_id }]);
		const at = (created_at: number, stream = workspace_id): NewEvent => ({ ...event(stream), created_at });
		const stream = newId('conversation');
		await stored(store, [at(NOON), at(NOON + 1), at(NOON + 2, stream), at(NOON + 3), at(NOON + 10)]);
		const deliveries = await deliveriesOf(store, endpoint.id);
		for (const delivery of deliveries) await attempt(store, delivery);
		const [first, waiting, third] = deliveries;
		for (const one of [first, third]) await change(store, one, { status: 'failed', due_at: null });
		const left = async () => [
			...(await store.events.after(workspace_id, 0, 9)).map(({ created_at }) => created_at - NOON),
			...(await store.events.after(stream, 0, 9)).map(({ created_at }) => created_at - NOON),
		];
		const erase = (limit: number) => store.commit({ write: [{ op: 'erase_events', before: NOON + 10, limit }] });
		assert.equal(await store.events.hasExpired(NOON), false);
		assert.equal(await store.events.hasExpired(NOON + 10), true);
		await erase(1);
		assert.deepEqual(await left(), [1, 3, 10, 2]);
		await erase(9);
		assert.deepEqual(await left(), [1, 10], 'an event is kept for a delivery that waits');
		assert.equal(await store.events.hasExpired(NOON + 10), false);
		assert.equal(await store.events.at(first?.event_seq ?? 0), undefined);
		assert.equal((await store.events.at(waiting?.event_seq ?? 0))?.created_at, NOON + 1);
		assert.deepEqual(
			(await deliveriesOf(store, endpoint.id)).map(({ id }) => id),
			[waiting?.id, deliveries[3]?.id],
		);
		assert.equal((await attemptsOf(store, first?.id)).length, 0);
		assert.equal((await attemptsOf(store, waiting?.id)).length, 1);
		await change(store, waiting, { status: 'delivered', due_at: null });
		assert.equal(await store.events.hasExpired(NOON + 10), true);
		await erase(9);
		assert.deepEqual(await left(), [10]);
		assert.equal((await attemptsOf(store, waiting?.id)).length, 0);
	});

	test('keeps an event with pending deliveries twice as long, and then erases both', async (t) => {
		const store = await fresh(t);
		const { endpoint, workspace_id } = await backlog(store, 2);
		const erase = (before: number) => store.commit({ write: [{ op: 'erase_events', before, limit: 9 }] });
		await erase(NOON + 30 * DAY);
		assert.equal((await deliveriesOf(store, endpoint.id)).length, 2);
		assert.equal(await store.events.hasExpired(NOON + 30 * DAY), false);
		assert.equal(await store.events.hasExpired(NOON + 30 * DAY + 1), true);
		await erase(NOON + 30 * DAY + 1);
		assert.deepEqual(await deliveriesOf(store, endpoint.id), []);
		assert.deepEqual(await store.events.after(workspace_id, 0, 9), []);
		assert.deepEqual(await store.deliveries.webhooksWithPending(null), []);
	});

	test('finds an old event after thousands that are kept for pending deliveries', async (t) => {
		const store = await fresh(t);
		const { endpoint, workspace_id } = await backlog(store, 4_100);
		const stream = newId('conversation');
		await stored(store, [{ ...event(stream), created_at: NOON + 1 }]);
		const erase = () => store.commit({ write: [{ op: 'erase_events', before: NOON + 2, limit: 9 }] });
		for (let step = 0; await store.events.hasExpired(NOON + 2); step++) {
			assert.ok(step < 9, 'each step goes on where the last one has ended');
			await erase();
		}
		assert.deepEqual(await store.events.after(stream, 0, 9), []);
		assert.equal((await store.events.after(workspace_id, 0, 9)).length, 9);
		// The search begins again at the start of the log.
		const [first] = await store.list('deliveries', { where: { webhook_id: endpoint.id }, order: 'asc', limit: 1 });
		await change(store, first, { status: 'delivered', due_at: null });
		for (let step = 0; await store.events.hasExpired(NOON + 2); step++) {
			assert.ok(step < 9, 'it comes to the first event again');
			await erase();
		}
		assert.equal(await store.events.at(first?.event_seq ?? 0), undefined);
	});

	test('lists deliveries with a status in order of creation, whatever their types', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [endpoint] = await register(store, [{ workspace_id, events: ['*'] }]);
		const types = ['message.created', 'conversation.closed', 'conversation.created'];
		await stored(
			store,
			Array.from({ length: 12 }, (_, n) => ({
				...event(workspace_id, types[n % 3]),
				created_at: NOON + Math.floor(n / 2),
			})),
		);
		const deliveries = await deliveriesOf(store, endpoint.id);
		for (const one of deliveries.slice(0, 3)) await change(store, one, { status: 'delivered', due_at: null });
		const list = async (query: object, order: 'asc' | 'desc' = 'asc') =>
			numbers(
				await store.list('deliveries', {
					...{ where: { webhook_id: endpoint.id, status: 'pending' }, order, limit: 4 },
					...query,
				}),
				deliveries,
			);
		assert.deepEqual(await list({}), [3, 4, 5, 6]);
		assert.deepEqual(await list({}, 'desc'), [11, 10, 9, 8]);
		const { created_at: at = 0, id = '' } = deliveries[6] ?? {};
		assert.deepEqual(await list({ after: { at, id } }), [7, 8, 9, 10]);
		assert.deepEqual(await list({ after: { at, id } }, 'desc'), [5, 4, 3]);
		assert.deepEqual(await list({ createdAfter: NOON + 2, createdBefore: NOON + 4 }), [6, 7]);
		const where = { webhook_id: endpoint.id, status: 'pending', event_type: 'conversation.closed' };
		assert.deepEqual(await list({ where }), [4, 7, 10]);
		assert.deepEqual(await list({ where: { ...where, status: 'failed' } }), []);
	});

	test('the last commit sequence never decreases, even when all events were erased', async (t) => {
		const store = await fresh(t);
		assert.equal(await store.events.lastSeq(), 0);
		const stream = newId('workspace');
		const seqs = await stored(store, [event(stream), event(stream), event(stream)]);
		const last = seqs.at(-1) as number;
		assert.equal(await store.events.lastSeq(), last);
		await store.commit({ write: [{ op: 'erase_events', before: NOON + 1, limit: 99 }] });
		assert.deepEqual(await store.events.after(stream, 0, 9), []);
		assert.equal(await store.events.lastSeq(), last);
		const [next] = await stored(store, [event(stream)]);
		assert.ok((next as number) > last);
		assert.equal(await store.events.lastSeq(), next);
	});

	test('finds the commit sequences of the events of a time range', async (t) => {
		const store = await fresh(t);
		const stream = newId('workspace');
		assert.equal(await store.events.range(0, NOON), null);
		const seqs = await stored(
			store,
			[0, 10, 10, 20].map((after) => ({ ...event(stream), created_at: NOON + after })),
		);
		const between = (since: number, until: number) => store.events.range(NOON + since, NOON + until);
		const [first, second, third, fourth] = seqs;
		assert.deepEqual(await between(0, 20), { first, last: fourth });
		assert.deepEqual(await between(-5, 99), { first, last: fourth });
		assert.deepEqual(await between(10, 10), { first: second, last: third });
		assert.deepEqual(await between(1, 19), { first: second, last: third });
		assert.equal(await between(11, 19), null);
		// The clock is set back: later events have earlier times, and some times occur twice.
		const again = await stored(
			store,
			[12, 15, -3].map((after) => ({ ...event(stream), created_at: NOON + after })),
		);
		assert.deepEqual(await between(11, 20), { first: fourth, last: again[1] });
		assert.deepEqual(await between(16, 20), { first: fourth, last: fourth });
		assert.deepEqual(await between(-9, 0), { first, last: again[2] });
		assert.deepEqual(await between(-9, -1), { first: again[2], last: again[2] });
		assert.equal(await between(21, 30), null);
		assert.equal(await between(-9, -4), null);
	});

	test('erases the deliveries and attempts of an erased conversation', async (t) => {
		const store = await fresh(t);
		const workspace_id = newId('workspace');
		const [endpoint] = await register(store, [{ workspace_id }]);
		const [doomed, kept] = [conversation({ workspace_id }), conversation({ workspace_id })];
		await store.commit({
			write: [doomed, kept].map((record) => ({ op: 'insert', kind: 'conversations', record })),
			events: [doomed, kept, doomed].map(({ id }) => ({ ...event(workspace_id), subject: id })),
		});
		const deliveries = await deliveriesOf(store, endpoint.id);
		for (const delivery of deliveries) await attempt(store, delivery);
		await store.commit({ write: [{ op: 'erase_conversation', id: doomed.id }] });
		const [first, second, third] = deliveries;
		assert.deepEqual(
			(await deliveriesOf(store, endpoint.id)).map(({ id }) => id),
			[second?.id],
		);
		assert.equal((await attemptsOf(store, first?.id)).length, 0);
		assert.equal((await attemptsOf(store, third?.id)).length, 0);
		assert.equal((await attemptsOf(store, second?.id)).length, 1);
	});

	test('a change that fails halfway leaves deliveries unchanged', async (t) => {
		const store = await fresh(t);
		const { endpoint, workspace_id } = await backlog(store, 2);
		const before = await deliveriesOf(store, endpoint.id);
		const gone = assistant().id;
		const refused = await store.commit({
			write: [
				{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: NOON, limit: 9 },
				{ op: 'patch', kind: 'assistants', id: gone, set: { name: 'Nobody' } },
			],
			events: [event(workspace_id)],
		});
		assert.equal(refused.outcome, 'conflict');
		assert.deepEqual(await deliveriesOf(store, endpoint.id), before);
	});
}

type Sample = ReturnType<typeof webhook>;

async function register<const G extends readonly Partial<WebhookRecord>[]>(
	store: Store,
	given: G,
): Promise<{ -readonly [I in keyof G]: Sample }> {
	const records = given.map((more) => webhook({ workspace_id: newId('workspace'), ...more }));
	await must(store, { write: records.map((record) => ({ op: 'insert', kind: 'webhooks', record })) });
	return records as { -readonly [I in keyof G]: Sample };
}

/** A commit with many more events may exceed the time limit of a statement on a busy machine. */
const BATCH = 500;

/** An endpoint with this many pending deliveries. */
async function backlog(store: Store, count: number) {
	const workspace_id = newId('workspace');
	const [endpoint] = await register(store, [{ workspace_id }]);
	for (let left = count; left > 0; left -= BATCH) {
		await stored(
			store,
			Array.from({ length: Math.min(left, BATCH) }, () => event(workspace_id)),
		);
	}
	return { workspace_id, endpoint, deliveries: await deliveriesOf(store, endpoint.id) };
}

async function stored(store: Store, events: NewEvent[]): Promise<number[]> {
	return must(store, { events });
}

async function must(store: Store, commit: Commit): Promise<number[]> {
	const end = await store.commit(commit);
	assert.equal(end.outcome, 'committed');
	return end.outcome === 'committed' ? end.seqs : [];
}

/** In the order of their events. */
async function deliveriesOf(store: Store, webhook_id: string): Promise<DeliveryRecord[]> {
	const found = await store.list('deliveries', { where: { webhook_id }, order: 'asc', limit: 1000 });
	return found.map((record) => ({ ...record })).toSorted((a, b) => a.event_seq - b.event_seq);
}

async function attemptsOf(store: Store, delivery_id = '') {
	return store.list('delivery_attempts', { where: { delivery_id }, order: 'asc', limit: 99 });
}

async function attempt(store: Store, delivery: DeliveryRecord | undefined): Promise<void> {
	const record = deliveryAttempt({ delivery_id: delivery?.id ?? assert.fail() });
	await must(store, { write: [{ op: 'insert', kind: 'delivery_attempts', record }] });
}

async function change(store: Store, delivery: DeliveryRecord | undefined, set: Partial<DeliveryRecord>): Promise<void> {
	const write: Write = { op: 'patch', kind: 'deliveries', id: delivery?.id ?? assert.fail(), set };
	await must(store, { write: [write] });
}

async function patchWebhook(store: Store, id: string, set: Partial<WebhookRecord>): Promise<void> {
	await must(store, { write: [{ op: 'patch', kind: 'webhooks', id, set }] });
}

/** The positions of some items in a list. */
function numbers(some: readonly DeliveryRecord[], all: readonly DeliveryRecord[]): number[] {
	return some.map(({ id }) => all.findIndex((delivery) => delivery.id === id));
}
