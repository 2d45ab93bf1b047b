import assert from 'node:assert/strict';
import test from 'node:test';
import { ClockJumpDetector, createLog } from '../../../src/base/index.ts';
import { DeliveryCleanup } from '../../../src/webhooks/delivery/delivery-cleanup.ts';
import { systemTimers } from '../../../src/webhooks/delivery/timers.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

test('retries at once what was scheduled while the clock was years ahead, after the clock is set back', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	time.setClock(3 * YEAR);
	await scene.emit(['conv_a']);
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
		'the 72 hours count by the corrected clock',
	);
	assert.equal(await scene.store.deliveries.failingSince(endpoint.id), NOON, 'and so do the 120 hours of its endpoint');
	await until('the next attempt is planned', () => time.pendingTimers.includes(10_000));
	time.advance(10_000);
	(await posts.nthPost(2)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('notices within an hour that the clock was set while an endpoint waits', async (t) => {
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

test('delays a retry by one hour when the clock is set back by one hour', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	scene.start();
	(await posts.nthPost(0)).end(SERVER_ERROR);
	await until('the next attempt is planned', () => time.pendingTimers[0] === 5_000);
	time.setClock(-HOUR);
	time.advance(5_000);
	await until('it waits again', () => time.pendingTimers[0] === HOUR);
	assert.equal(posts.posts.length, 1);
	// A first attempt does not wait for the retry.
	await scene.emit(['conv_b']);
	(await posts.nthPost(1)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	await until('it waits again', () => time.pendingTimers[0] === HOUR);
	time.advance(HOUR);
	(await posts.nthPost(2)).end();
	await scene.untilStatus(endpoint, 'delivered', 2);
});

test('schedules the next attempt as if the clock had not been set during the attempt', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	scene.start();
	const post = await posts.nthPost(0);
	time.advance(2_000);
	time.setClock(-HOUR);
	post.end(SERVER_ERROR);
	const [delivery] = await until('it is stored', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 1 && all;
	});
	assert.deepEqual([delivery?.status, delivery?.due_at], ['pending', NOON + 2_000 + 5_000]);
});

test('keeps events while the clock is suspect and erases them after ten minutes', async (t) => {
	const { store, time, workspace, emit } = await deliveryHarness(t);
	const events = await emit(['conv_a', 'conv_b']);
	await using cleanup = new DeliveryCleanup({
		store,
		clock: time,
		jumpDetector: new ClockJumpDetector(time),
		log: createLog('silent'),
		onFenced() {},
	});
	const kept = async () => (await store.events.after(workspace, 0, 10)).map(({ id }) => id);
	time.setClock(31 * 24 * HOUR);
	await cleanup.run();
	time.advance(10 * 60_000 - 1);
	await cleanup.run();
	assert.deepEqual(await kept(), events);
	time.advance(1);
	await cleanup.run();
	assert.deepEqual(await kept(), []);
});

test('keeps events when the clock is far ahead only for a moment', async (t) => {
	const { store, time, workspace, emit } = await deliveryHarness(t);
	const events = await emit(['conv_a']);
	await using cleanup = new DeliveryCleanup({
		store,
		clock: time,
		jumpDetector: new ClockJumpDetector(time),
		log: createLog('silent'),
		onFenced() {},
	});
	time.setClock(45 * 24 * HOUR);
	await cleanup.run();
	time.setClock(-45 * 24 * HOUR);
	time.advance(10 * 60_000);
	await cleanup.run();
	assert.deepEqual(
		(await store.events.after(workspace, 0, 10)).map(({ id }) => id),
		events,
	);
});

test('timers fire once, and not after they were cancelled', async () => {
	let fired = 0;
	const cancel = systemTimers.set(1, () => {
		fired += 100;
	});
	cancel();
	systemTimers.set(1, () => {
		fired += 1;
	});
	await until('it fires', () => fired > 0);
	assert.equal(fired, 1);
});
