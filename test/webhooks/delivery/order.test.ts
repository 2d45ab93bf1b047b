import assert from 'node:assert/strict';
import test from 'node:test';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness, SETTLE_TIMEOUT_MS } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

/** So many conversations, each named once. */
const several = (count: number, name = 'conv') => Array.from({ length: count }, (_, at) => `${name}_${at}`);

test('sends events of one conversation one after another, and those of others concurrently', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	const events = await scene.emit(['conv_a', 'conv_a', 'conv_b', 'conv_a', 'conv_b']);
	scene.start();
	await posts.nthPost(1);
	const sent = () => posts.posts.map(({ event }) => events.indexOf(event));
	assert.deepEqual(sent(), [0, 2]);
	posts.posts[1]?.end();
	await posts.nthPost(2);
	assert.deepEqual(sent(), [0, 2, 4], 'the other conversation goes on');
	posts.posts[2]?.end();
	await scene.untilStatus(endpoint, 'delivered', 2);
	assert.deepEqual(sent(), [0, 2, 4], 'the first one has not ended');
	posts.posts[0]?.end();
	await posts.nthPost(3);
	posts.posts[3]?.end();
	await posts.nthPost(4);
	posts.posts[4]?.end();
	await scene.untilStatus(endpoint, 'delivered', 5);
	assert.deepEqual(sent(), [0, 2, 4, 1, 3]);
});

test('sends the next event of a conversation only when the outcome of the previous one is stored', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_a', 'conv_b']);
	let commits = 0;
	let store = () => {};
	scene.storeOverrides.commit = async (commit) => {
		if (++commits === 1) await new Promise<void>((resolve) => (store = resolve));
		return scene.store.commit(commit);
	};
	scene.start();
	await posts.nthPost(1);
	posts.posts[0]?.end();
	await until('the outcome is to be stored', () => commits === 1);
	posts.posts[1]?.end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	assert.equal(posts.posts.length, 2);
	store();
	(await posts.nthPost(2)).end();
	await scene.untilStatus(endpoint, 'delivered', 3);
});

test('events without a conversation wait only for events of their type', async (t) => {
	const scene = await deliveryHarness(t);
	await scene.register();
	const updated = await scene.emit([null, null], 'assistant.updated');
	const indexed = await scene.emit([null], 'knowledge_base.indexed');
	scene.start();
	await scene.posts.nthPost(1);
	assert.deepEqual(
		scene.posts.posts.map(({ event }) => event),
		[updated[0], indexed[0]],
	);
	scene.posts.posts[0]?.end();
	assert.equal((await scene.posts.nthPost(2)).event, updated[1]);
});

test('sends an endpoint at most ten events at a time, in the order of the log', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	let most = 0;
	posts.respond = () => {
		most = Math.max(most, posts.inFlight().length);
		return undefined;
	};
	const endpoint = await scene.register();
	const events = await scene.emit(several(150));
	scene.start();
	await posts.nthPost(9);
	for (let at = 0; at < events.length; at++) (await posts.nthPost(at)).end();
	await scene.untilStatus(endpoint, 'delivered', events.length);
	assert.equal(most, 10);
	assert.deepEqual(
		posts.posts.map(({ event }) => event),
		events,
	);
});

test('retries a failed delivery when it is due and not before, ahead of first attempts', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	const [failed] = await scene.emit(['conv_a']);
	scene.start();
	(await posts.nthPost(0)).end(SERVER_ERROR);
	await until('the next attempt is planned', () => time.pendingTimers[0] === 5_000);
	// Two at once at an endpoint that has failed last: with these there is no room.
	await scene.emit(several(3));
	await posts.nthPost(2);
	time.advance(4_999);
	posts.posts[1]?.end(SERVER_ERROR);
	const third = await posts.nthPost(3);
	assert.notEqual(third.event, failed);
	time.advance(1);
	await scene.emit(several(80, 'other'));
	posts.posts[2]?.end();
	await until('it is tried again', () => posts.posts[4]?.event === failed);
	third.end();
	posts.respond = () => ({});
	for (const post of posts.inFlight()) post.end();
	await scene.untilStatus(endpoint, 'delivered', 83);
	time.advance(5_000);
	await scene.untilStatus(endpoint, 'delivered', 84);
});

test('retries at once when a failure is stored only after its next attempt is due', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const endpoint = await scene.register();
	const [failed] = await scene.emit(['conv_a']);
	let store: (() => void) | undefined;
	scene.storeOverrides.commit = async (commit) => {
		delete scene.storeOverrides.commit;
		await new Promise<void>((resolve) => (store = resolve));
		return scene.store.commit(commit);
	};
	scene.start();
	(await posts.nthPost(0)).end(SERVER_ERROR);
	const release = await until('it is to be stored', () => store);
	time.advance(60_000);
	// Due deliveries are read meanwhile.
	await scene.emit(['conv_b']);
	await posts.nthPost(1);
	release();
	posts.posts[1]?.end();
	assert.equal((await posts.nthPost(2)).event, failed);
	posts.posts[2]?.end();
	await scene.untilStatus(endpoint, 'delivered', 2);
});

test('first attempts do not wait for all of many retries', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	await scene.emit(several(150));
	for (const delivery of await scene.deliveries(endpoint))
		await scene.change(delivery, { due_at: NOON - 1, attempts: 1 });
	const fresh = await scene.emit(several(5, 'new'));
	scene.start();
	await scene.untilStatus(endpoint, 'delivered', 155);
	const places = fresh.map((id) => posts.posts.findIndex(({ event }) => event === id));
	assert.ok(Math.max(...places) < 50, `sent as ${places}`);
});

test('a conversation with very many events does not delay the events of others', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	const busy = await scene.emit(Array(300).fill('conv_busy'));
	const others = await scene.emit(several(150));
	scene.start();
	await posts.nthPost(9);
	assert.deepEqual(
		posts.posts.map(({ event }) => event),
		[busy[0], ...others.slice(0, 9)],
	);
	// The busy one is as slow as can be: all others come first.
	for (let at = 1; at < 151; at++) (await posts.nthPost(at)).end();
	await scene.untilStatus(endpoint, 'delivered', 150);
	assert.equal(posts.posts.length, 151);
	// A delivery that is stored now does not wait for it either.
	const [late] = await scene.emit(['conv_late']);
	assert.equal((await posts.nthPost(151)).event, late);
	posts.respond = () => ({});
	for (const post of posts.inFlight()) post.end();
	await scene.untilStatus(endpoint, 'delivered', 451);
	const order = posts.posts.map(({ event }) => busy.indexOf(event)).filter((at) => at >= 0);
	assert.deepEqual(order, [...busy.keys()], 'its own stay in order');
});

test('sends thousands of deliveries pending at the start once each, in order per conversation', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = () => ({});
	const endpoint = await scene.register();
	const subjects = Array.from({ length: 2_500 }, (_, at) => `conv_${(at * at) % 37}`);
	const events = await scene.emit(subjects);
	scene.start();
	await until('all are sent', () => posts.posts.length >= events.length, SETTLE_TIMEOUT_MS);
	await scene.untilStatus(endpoint, 'delivered', events.length);
	assert.equal(posts.posts.length, events.length);
	const last = new Map<string, number>();
	for (const { event } of posts.posts) {
		const at = events.indexOf(event);
		const subject = subjects[at] as string;
		assert.ok(at > (last.get(subject) ?? -1), `event ${at} overtakes one of its conversation`);
		last.set(subject, at);
	}
	await until('it waits for nothing any more', () => scene.time.pendingTimers.length === 0);
});
