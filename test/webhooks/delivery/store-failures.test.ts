import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../../src/base/index.ts';
import { DELIVERY_SCHEDULE } from '../../../src/webhooks/delivery/index.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

const HOUR = 3_600_000;
const diskFull = async () => {
	throw new AppError('unavailable', 'The disk is full.');
};

test('keeps an outcome that cannot be stored and stores it after a growing pause, without sending again', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	// One attempt runs all the time, so that the endpoint's queue is kept.
	posts.respond = ({ body }) => (body.includes('conv_slow') ? undefined : {});
	const endpoint = await scene.register();
	await scene.emit(['conv_slow', 'conv_a', 'conv_a']);
	let tried = 0;
	scene.storeOverrides.commit = async () => {
		tried += 1;
		return diskFull();
	};
	scene.start();
	for (const [round, pause] of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].entries()) {
		await until(`pause ${round}`, () => time.pendingTimers[0] === pause);
		assert.deepEqual(time.pendingTimers, [pause]);
		assert.equal(tried, round + 1, 'once after each pause');
		time.advance(pause - 1);
		assert.deepEqual(time.pendingTimers, [1], 'and not sooner');
		if (round === 7) delete scene.storeOverrides.commit;
		time.advance(1);
	}
	const all = await scene.untilStatus(endpoint, 'delivered', 2);
	assert.deepEqual(
		all.map(({ attempts, first_attempt_at, completed_at }) => [attempts, first_attempt_at, completed_at]),
		[
			[0, null, null],
			[1, NOON, NOON],
			[1, time.now(), time.now()],
		],
		'with the time at which it was made',
	);
	assert.equal(posts.posts.length, 3, 'each was sent once');
	// The next trouble begins with a short pause again.
	scene.storeOverrides.commit = diskFull;
	await scene.emit(['conv_a']);
	await until('a pause', () => time.pendingTimers[0] === 1_000);
});

test('delays all running deliveries by one pause when the disk fails for a moment', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(Array.from({ length: 10 }, (_, at) => `conv_${at}`));
	let failed = 0;
	scene.storeOverrides.commit = async (commit) => (failed++ < 10 ? diskFull() : scene.store.commit(commit));
	scene.start();
	await until('each has failed', () => failed === 10);
	assert.deepEqual(time.pendingTimers, [1_000], 'one pause for all');
	time.advance(1_000);
	await scene.untilStatus(endpoint, 'delivered', 10);
	assert.equal(posts.posts.length, 10);
});

test('sends no event twice when the disk is full for an hour', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(Array.from({ length: 30 }, (_, at) => `conv_${at}`));
	let tried = 0;
	scene.storeOverrides.commit = async () => {
		tried += 1;
		return diskFull();
	};
	scene.start();
	await posts.nthPost(9);
	for (let minute = 0; minute < 60; minute++) {
		const before = tried;
		time.advance(60_000);
		scene.deliverer.wake(endpoint.id);
		await until('it is tried to be stored', () => tried >= before + 10);
	}
	assert.equal(posts.posts.length, 10, 'as many as may be under way');
	delete scene.storeOverrides.commit;
	time.advance(60_000);
	await scene.untilStatus(endpoint, 'delivered', 30);
	assert.equal(new Set(posts.posts.map(({ event }) => event)).size, 30);
	assert.equal(posts.posts.length, 30);
});

test('an outcome that waits for the disk holds no network slot', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = () => ({});
	for (let at = 0; at < 210; at++) await scene.register({ url: `https://${at}.example/` });
	await scene.emit(['conv_a']);
	scene.storeOverrides.commit = diskFull;
	scene.start();
	await posts.nthPost(209);
});

test('sends nothing more when another server owns the store', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = ({ event }) => (event === first ? {} : undefined);
	const endpoint = await scene.register();
	const [first] = await scene.emit(['conv_a', 'conv_a', 'conv_b']);
	let refused = 0;
	scene.storeOverrides.commit = async () => {
		refused += 1;
		return { outcome: 'fenced' };
	};
	scene.start();
	await until('it hears of it', () => refused === 1);
	for (const post of posts.inFlight()) post.end();
	const made = posts.posts.length;
	await scene.emit(['conv_c']);
	for (let hour = 0; hour < 20; hour++) {
		scene.deliverer.wake(endpoint.id);
		time.advance(HOUR);
		// As much as an attempt would need.
		await scene.deliveries(endpoint);
		await new Promise((resolve) => setImmediate(resolve));
	}
	assert.equal(posts.posts.length, made);
	assert.ok(refused <= made, `${refused} commits`);
	assert.deepEqual(time.pendingTimers, []);
});

test('reads once after each pause when even the state of an endpoint cannot be read', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	let reads = 0;
	scene.storeOverrides.deliveries.failingSince = async (id) => {
		reads += 1;
		if (reads > 500) return store.deliveries.failingSince(id);
		throw new Error('I/O error');
	};
	scene.start();
	for (const [round, pause] of [1_000, 2_000, 4_000].entries()) {
		await until('a pause', () => time.pendingTimers[0] === pause);
		assert.equal(reads, round + 1);
		scene.deliverer.wake(endpoint.id);
		time.advance(pause);
	}
	await until('a longer pause', () => time.pendingTimers[0] === 8_000);
	delete scene.storeOverrides.deliveries.failingSince;
	time.advance(8_000);
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('sends a delivery after a pause when it could not be read', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b']);
	let reads = 0;
	scene.storeOverrides.events.at = async (seq) => {
		if (++reads <= 2) throw new Error('I/O error');
		return store.events.at(seq);
	};
	scene.start();
	await until('both could not be read', () => reads === 2 && time.pendingTimers.length > 0);
	assert.deepEqual(time.pendingTimers, [1_000]);
	assert.equal(posts.posts.length, 0);
	time.advance(1_000);
	await scene.untilStatus(endpoint, 'delivered', 2);
	assert.equal(posts.posts.length, 2);
});

test('reads again after a pause when the database cannot be read', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	let reads = 0;
	scene.storeOverrides.deliveries.due = async () => {
		reads += 1;
		throw new Error('I/O error');
	};
	scene.start();
	await until('a pause', () => time.pendingTimers[0] === 1_000);
	assert.equal(reads, 1);
	time.advance(1_000);
	await until('a longer pause', () => time.pendingTimers[0] === 2_000);
	assert.equal(reads, 2);
	delete scene.storeOverrides.deliveries.due;
	time.advance(2_000);
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('counts a secret that cannot be opened as a failure and retries on schedule', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register({ secret: 'v1.AAAA' });
	await scene.emit(['conv_a']);
	scene.start();
	const [delivery] = await until('the failure is stored', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 1 && all;
	});
	assert.deepEqual(
		[delivery?.status, delivery?.error, delivery?.due_at],
		['pending', 'This server could not sign the delivery.', NOON + DELIVERY_SCHEDULE.initialDelay],
	);
	await until('the next attempt is planned', () => time.pendingTimers[0] === DELIVERY_SCHEDULE.initialDelay);
	assert.equal(posts.posts.length, 0, 'nothing unsigned is sent');
	const { secret } = await scene.register();
	await scene.store.commit({ write: [{ op: 'patch', kind: 'webhooks', id: endpoint.id, set: { secret } }] });
	time.advance(DELIVERY_SCHEDULE.initialDelay);
	(await posts.nthPost(0)).end();
	await scene.untilStatus(endpoint, 'delivered', 1);
});

test('gives up a delivery whose event was erased, and says so', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	scene.storeOverrides.events.at = async () => undefined;
	scene.start();
	const [delivery] = await scene.untilStatus(endpoint, 'failed', 1);
	assert.deepEqual(
		[delivery?.error, delivery?.due_at, delivery?.attempts, delivery?.completed_at],
		['The event is no longer kept.', null, 0, NOON],
	);
	assert.equal(scene.posts.posts.length, 0);
});

test('gives up a delivery whose time limit passed while the server was down, without another attempt', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b']);
	const [late, last] = await scene.deliveries(endpoint);
	assert.ok(late && last);
	const tried = { attempts: 3, failures: 3, due_at: NOON - HOUR };
	await scene.change(late, { ...tried, first_attempt_at: NOON - 72 * HOUR - 1 });
	await scene.change(last, { ...tried, first_attempt_at: NOON - 72 * HOUR });
	scene.start();
	(await scene.posts.nthPost(0)).end(SERVER_ERROR);
	const all = await scene.untilStatus(endpoint, 'failed', 2);
	assert.deepEqual(
		all.map(({ attempts, error }) => [attempts, error]),
		[
			[3, 'It could not be delivered within 72 hours.'],
			[4, 'The endpoint answered with status 500.'],
		],
	);
	assert.equal(scene.posts.posts.length, 1);
});

test('gives up a delivery without an attempt within 30 days of its event, and says so', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	time.advance(1);
	await scene.emit(['conv_b']);
	time.advance(720 * HOUR);
	await scene.restart();
	const [late, last] = await scene.untilStatus(endpoint, 'delivered', 1);
	assert.deepEqual(
		[late?.status, late?.error, late?.attempts, late?.completed_at],
		['failed', 'It could not be tried within 30 days.', 0, time.now()],
	);
	assert.deepEqual([last?.status, posts.posts.length], ['delivered', 1]);
});
