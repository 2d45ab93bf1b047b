import assert from 'node:assert/strict';
import test from 'node:test';
import { systemTimers } from '../../../src/webhooks/delivery/timers.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

test('a time that was set when the clock was years ahead counts as come after it was set back', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	time.setClock(3 * YEAR);
	scene.start();
	(await posts.nthPost(0)).end(SERVER_ERROR);
	await until('the next attempt is planned', () => time.pendingTimers.length > 0);
	time.setClock(-3 * YEAR);
	await scene.restart();
	(await posts.nthPost(1)).end(SERVER_ERROR);
	const [delivery] = await until('the failure is stored', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 2 && all;
	});
	assert.deepEqual(
		[delivery?.first_attempt_at, delivery?.due_at],
		[NOON, NOON + 10_000],
		'its 72 hours count by the clock of now',
	);
	assert.equal(await scene.store.deliveries.failingSince(endpoint.id), NOON, 'and the 120 hours of its endpoint');
	await until('the next attempt is planned', () => time.pendingTimers.includes(10_000));
	time.advance(10_000);
	(await posts.nthPost(2)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('a clock that is set while an endpoint waits is looked at within the hour', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	const [delivery] = await scene.deliveries(endpoint);
	assert.ok(delivery);
	await scene.change(delivery, { attempts: 14, failures: 14, first_attempt_at: NOON, due_at: NOON + 6 * HOUR });
	scene.start();
	await until('it waits', () => time.pendingTimers.length > 0);
	assert.ok((time.pendingTimers[0] as number) <= HOUR);
	time.setClock(6 * HOUR);
	time.advance(HOUR);
	(await posts.nthPost(0)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('a clock that is set back an hour delays by an hour and no more', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	scene.start();
	(await posts.nthPost(0)).end(SERVER_ERROR);
	await until('the next attempt is planned', () => time.pendingTimers[0] === 5_000);
	time.setClock(-HOUR);
	time.advance(5_000);
	await until('it waits anew', () => time.pendingTimers[0] === HOUR);
	assert.equal(posts.posts.length, 1);
	// What is new does not wait for it.
	await scene.emit(['conv_b']);
	(await posts.nthPost(1)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	await until('it waits again', () => time.pendingTimers[0] === HOUR);
	time.advance(HOUR);
	(await posts.nthPost(2)).end();
	await scene.untilStatus(endpoint, 'delivered', 2);
});

test('a clock that is far ahead for one moment ends nothing: no event, no delivery, no endpoint', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = ({ body }) => (body.includes('conv_taken') ? {} : SERVER_ERROR);
	const endpoint = await scene.register();
	scene.start();
	const events = await scene.emit(['conv_taken', 'conv_a', 'conv_b']);
	await until('all were tried', async () => (await scene.deliveries(endpoint)).every(({ attempts }) => attempts === 1));
	await until('it waits', () => time.pendingTimers.includes(5_000));
	const before = await scene.deliveries(endpoint);
	const made = posts.posts.length;
	for (const ahead of [31 * 24 * HOUR, 73 * HOUR, 121 * HOUR]) {
		time.setClock(ahead);
		await scene.emit(['conv_taken']);
		scene.deliverer.wake(endpoint.id);
		scene.deliverer.cleanUp();
		await scene.untilStatus(endpoint, 'delivered', posts.posts.length - made);
		await until('it looks again soon', () => time.pendingTimers.some((ms) => ms <= 60_000));
		time.setClock(-ahead);
	}
	const after = await scene.deliveries(endpoint);
	assert.deepEqual(after.slice(0, 3), before);
	const kept = await store.events.after(scene.workspace, 0, 100);
	assert.deepEqual(
		kept.slice(0, 3).map(({ id }) => id),
		events,
	);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active');
	posts.respond = () => ({});
	time.advance(60_000);
	await scene.untilStatus(endpoint, 'delivered', 6);
});

test('a clock that jumps while an attempt is under way does not make it the last one', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	scene.start();
	const post = await posts.nthPost(0);
	time.advance(2_000);
	time.setClock(130 * HOUR);
	post.end(SERVER_ERROR);
	const [delivery] = await until('it is stored', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 1 && all;
	});
	assert.deepEqual([delivery?.status, delivery?.due_at], ['pending', NOON + 2_000 + 5_000]);
	assert.equal((await scene.store.get('webhooks', endpoint.id))?.status, 'active');
});

test('an endpoint that fails while the clock is far ahead is not disabled for it', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	scene.start();
	await scene.emit(['conv_a']);
	await until('it has failed', async () => (await store.deliveries.failingSince(endpoint.id)) === NOON);
	time.setClock(121 * HOUR);
	await scene.emit(['conv_b']);
	await until('it has failed again', async () => (await scene.deliveries(endpoint))[1]?.attempts === 1);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active');
});

test('a clock that stays where it was set is believed after ten minutes', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	scene.start();
	await scene.emit(['conv_a']);
	await until('it waits', () => time.pendingTimers.includes(5_000));
	time.setClock(31 * 24 * HOUR);
	time.advance(5_000);
	await until('it waits again', () => time.pendingTimers.includes(60_000));
	for (let minute = 0; minute < 9; minute++) {
		time.advance(60_000);
		await until('it waits again', () => time.pendingTimers.includes(60_000));
	}
	assert.equal((await scene.deliveries(endpoint))[0]?.status, 'pending');
	time.advance(60_000);
	const [delivery] = await scene.untilStatus(endpoint, 'failed', 1);
	assert.deepEqual([delivery?.attempts, delivery?.error], [1, 'It could not be delivered within 72 hours.']);
	scene.deliverer.cleanUp();
	await until('the event is erased', async () => (await store.events.after(scene.workspace, 0, 10)).length === 0);
	await scene.emit(['conv_b']);
	await until('it is disabled', async () => (await store.get('webhooks', endpoint.id))?.status === 'disabled');
});

test('alarms ring once, and not after they were taken back', async () => {
	let rung = 0;
	const takeBack = systemTimers.set(1, () => {
		rung += 100;
	});
	takeBack();
	systemTimers.set(1, () => {
		rung += 1;
	});
	await until('it rings', () => rung > 0);
	assert.equal(rung, 1);
});
