import assert from 'node:assert/strict';
import test from 'node:test';
import type { Commit } from '../../../src/store/index.ts';
import { retryPatch } from '../../../src/webhooks/delivery/index.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { type DeliveryHarness, deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

/** Whether a commit stores what came of an attempt. */
const storesAttempt = ({ write = [] }: Commit) =>
	write.some((one) => one.op === 'insert' && one.kind === 'delivery_attempts');

/** Lets something else be committed between an attempt's reading and its commit, once. */
function overtake(scene: DeliveryHarness, first: () => Promise<unknown>): void {
	scene.storeOverrides.commit = async (commit) => {
		if (storesAttempt(commit)) {
			delete scene.storeOverrides.commit;
			await first();
		}
		return scene.store.commit(commit);
	};
}

const attemptsOf = (scene: DeliveryHarness, delivery_id: string) =>
	scene.store.list('delivery_attempts', { where: { delivery_id }, order: 'asc', limit: 10 });

test('does not call an endpoint that is disabled between reading ahead and sending', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_a', 'conv_a', 'conv_b', 'conv_b']);
	scene.start();
	await posts.nthPost(1);
	await scene.setStatus(endpoint, 'disabled');
	for (const post of posts.inFlight()) post.end();
	const all = await scene.untilStatus(endpoint, 'cancelled', 3);
	assert.deepEqual(
		all.map(({ status, due_at, attempts }) => [status, due_at, attempts]),
		[
			['delivered', null, 1],
			['cancelled', null, 0],
			['cancelled', null, 0],
			['delivered', null, 1],
			['cancelled', null, 0],
		],
	);
	assert.equal(posts.posts.length, 2, 'what was under way ended, and nothing was begun');
});

test('attempts only pending deliveries of active endpoints', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b']);
	const [first, second] = await scene.deliveries(endpoint);
	assert.ok(first && second);
	const make = async (id: string) => (await scene.attempts.run(id, new AbortController().signal)).kind;
	await scene.setStatus(endpoint, 'disabled');
	assert.equal(await make(first.id), 'inactive');
	await scene.setStatus(endpoint, 'active');
	await scene.change(first, { status: 'cancelled', due_at: null });
	assert.equal(await make(first.id), 'none');
	assert.equal(await make('dlv_unknown'), 'none');
	assert.equal(scene.posts.posts.length, 0);
	await scene.change(first, { status: 'pending', due_at: NOON + 1 });
	assert.equal(await make(first.id), 'none', 'it is not due yet');
	await scene.store.commit({ write: [{ op: 'remove', kind: 'webhooks', id: endpoint.id }] });
	assert.equal(await make(second.id), 'inactive');
	assert.equal(scene.posts.posts.length, 0);
});

test('a delivery cancelled during its attempt stays cancelled, unless it is delivered', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b']);
	scene.start();
	await posts.nthPost(1);
	const write = [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: NOON + 1, limit: 10 } as const];
	await scene.store.commit({ write });
	posts.posts[0]?.end(SERVER_ERROR);
	posts.posts[1]?.end();
	const [refused, taken] = await scene.untilStatus(endpoint, 'delivered', 1).then(() =>
		until('both ends are stored', async () => {
			const all = await scene.deliveries(endpoint);
			return all.every(({ attempts }) => attempts === 1) && all;
		}),
	);
	assert.ok(refused && taken);
	assert.deepEqual([refused.status, refused.due_at, refused.completed_at], ['cancelled', null, NOON + 1]);
	assert.equal(refused.error, 'The endpoint answered with status 500.', 'the attempt is told of all the same');
	assert.equal((await attemptsOf(scene, refused.id)).length, 1);
	assert.deepEqual([taken.status, taken.due_at], ['delivered', null]);
	assert.deepEqual(scene.time.pendingTimers, []);
});

for (const [outcome, expected] of [
	['is refused', 'cancelled'],
	['arrives', 'delivered'],
] as const) {
	test(`a delivery cancelled at the moment when it ${outcome} is ${expected}`, async (t) => {
		const scene = await deliveryHarness(t);
		const endpoint = await scene.register();
		await scene.emit(['conv_a']);
		scene.start();
		const post = await scene.posts.nthPost(0);
		const write = [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: NOON + 1, limit: 10 } as const];
		overtake(scene, () => scene.store.commit({ write }));
		post.end(outcome === 'arrives' ? {} : SERVER_ERROR);
		const [delivery] = await until('the end is stored', async () => {
			const all = await scene.deliveries(endpoint);
			return all[0]?.attempts === 1 && all;
		});
		assert.deepEqual([delivery?.status, delivery?.due_at], [expected, null]);
		assert.equal((await attemptsOf(scene, delivery?.id ?? '')).length, 1);
	});
}

test('a delivery that is retried by a person during its last attempt gets its full time', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	const [delivery] = await scene.deliveries(endpoint);
	assert.ok(delivery);
	const over = { attempts: 24, failures: 24, first_attempt_at: NOON - 72 * 3_600_000 + 60_000, due_at: NOON };
	await scene.change(delivery, over);
	scene.start();
	const post = await scene.posts.nthPost(0);
	overtake(scene, () => scene.change(delivery, retryPatch(NOON)));
	post.end(SERVER_ERROR);
	const [after] = await until('the end is stored', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 25 && all;
	});
	assert.deepEqual(
		[after?.status, after?.failures, after?.first_attempt_at, after?.due_at],
		['pending', 1, NOON, NOON + 5_000],
	);
	scene.time.advance(5_000);
	(await scene.posts.nthPost(1)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('a delivery erased during its attempt leaves nothing behind, whatever the outcome', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, store } = scene;
	const [erased, kept] = [
		await scene.register({ url: 'https://erased.example/' }),
		await scene.register({ url: 'https://kept.example/' }),
	];
	await scene.emit(['conv_a', 'conv_b', 'conv_c']);
	scene.start();
	await posts.nthPost(5);
	const deliveries = [...(await scene.deliveries(erased)), ...(await scene.deliveries(kept))];
	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_a' }] });
	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_b' }] });
	await store.commit({
		write: [
			{ op: 'remove', kind: 'webhooks', id: erased.id },
			{ op: 'erase_deliveries', webhook_id: erased.id, limit: 10 },
		],
	});
	for (const post of posts.inFlight()) post.end(post.body.includes('conv_b') ? {} : SERVER_ERROR);
	const last = deliveries[5]?.id ?? '';
	await until('the last one is stored', async () => (await attemptsOf(scene, last)).length === 1);
	await until('nothing else is waited for', () => scene.time.pendingTimers.join() === '5000');
	await scene.deliverer.drain();
	assert.deepEqual(await scene.deliveries(erased), []);
	assert.deepEqual(
		(await scene.deliveries(kept)).map(({ id }) => id),
		[last],
	);
	for (const { id } of deliveries.slice(0, 5)) assert.deepEqual(await attemptsOf(scene, id), []);
	assert.equal(await store.deliveries.failingSince(erased.id), null);
	assert.equal(await store.deliveries.failingSince(kept.id), NOON);
	assert.equal(posts.posts.length, 6);
});

test('a delivery erased at the moment when its attempt ends leaves nothing behind', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b']);
	scene.start();
	await scene.posts.nthPost(1);
	const [delivery] = await scene.deliveries(endpoint);
	overtake(scene, () => scene.store.commit({ write: [{ op: 'erase_conversation', id: 'conv_a' }] }));
	scene.posts.posts[0]?.end(SERVER_ERROR);
	await until('it is erased', async () => (await scene.deliveries(endpoint)).length === 1);
	scene.posts.posts[1]?.end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	assert.deepEqual(scene.time.pendingTimers, [], 'and is no trouble');
	await scene.deliverer.drain();
	assert.deepEqual(await attemptsOf(scene, delivery?.id ?? ''), []);
	assert.equal(scene.posts.posts.length, 2);
});

test('sends nothing more of an erased conversation, even when it was read ahead', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, store } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_a', 'conv_a', 'conv_b']);
	scene.start();
	await posts.nthPost(1);
	await store.commit({ write: [{ op: 'erase_conversation', id: 'conv_a' }] });
	for (const post of posts.inFlight()) post.end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	await scene.emit(['conv_c']);
	(await posts.nthPost(2)).end();
	const all = await scene.untilStatus(endpoint, 'delivered', 2);
	assert.deepEqual(
		all.map(({ subject }) => subject),
		['conv_b', 'conv_c'],
	);
	await scene.restart();
	const [last] = await scene.emit(['conv_d']);
	assert.equal((await posts.nthPost(3)).event, last);
	assert.equal(posts.posts.filter(({ body }) => body.includes('conv_a')).length, 1);
});

test('delivers again at once what is replayed while its delivery is being stored', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, store } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	const [id] = await scene.emit(['conv_a']);
	const seq = (await scene.deliveries(endpoint))[0]?.event_seq ?? 0;
	scene.storeOverrides.commit = async (commit) => {
		if (!storesAttempt(commit)) return store.commit(commit);
		delete scene.storeOverrides.commit;
		const stored = await store.commit(commit);
		await store.commit({ write: [{ op: 'redeliver', webhook_id: endpoint.id, seqs: [seq], at: NOON }] });
		let read = () => {};
		const looked = new Promise<void>((resolve) => (read = resolve));
		scene.storeOverrides.deliveries.due = async (...given) => {
			delete scene.storeOverrides.deliveries.due;
			const due = await store.deliveries.due(...given);
			read();
			return due;
		};
		// Due deliveries are read before the attempt knows that its outcome is stored.
		scene.deliverer.wake(endpoint.id);
		await looked;
		return stored;
	};
	scene.start();
	assert.equal((await posts.nthPost(1)).event, id);
	await until('both are stored', async () => (await scene.deliveries(endpoint))[0]?.attempts === 2);
	assert.deepEqual((await scene.untilStatus(endpoint, 'delivered', 1)).length, 1);
});
