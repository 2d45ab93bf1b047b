import assert from 'node:assert/strict';
import test from 'node:test';
import { event } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';
import { NO_RESPONSE, type Post, SERVER_ERROR, TIMED_OUT } from './manual-network.ts';

const HEALTHY = 'https://healthy.example/hook';
const DEAD = 60;

test('sixty endpoints that never respond do not delay a healthy endpoint', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = ({ url }) => (url === HEALTHY ? {} : undefined);
	const dead: { id: string; url: string }[] = [];
	for (let at = 0; at < DEAD; at++) dead.push(await scene.register({ url: `https://dead-${at}.example/hook` }));
	const healthy = await scene.register({ url: HEALTHY });
	const hanging = () => posts.inFlight().filter(({ url }) => url !== HEALTHY);
	const conversations = (name: string) => Array.from({ length: 30 }, (_, at) => `${name}_${at}`);

	// No endpoint has failed yet, so all count as healthy.
	await scene.emit(conversations('first'));
	scene.start();
	await until('each of the dead has something under way', () => new Set(hanging().map(({ url }) => url)).size === DEAD);
	await scene.untilStatus(healthy, 'delivered', 30);
	assert.equal(posts.posts.filter(({ ended, url }) => ended && url !== HEALTHY).length, 0, 'all the others hang');
	assert.ok(hanging().length <= 200, `${hanging().length} are under way`);

	// They have failed, and slowly: from now on they share slots of their own.
	let most = 0;
	const mostOf = new Map<string, number>();
	const fail = (post: Post) => post.end(TIMED_OUT);
	for (const { id, url } of dead) {
		fail(posts.inFlight(url)[0] as Post);
		await until('the failure is stored', async () => (await scene.store.deliveries.failingSince(id)) !== null);
	}
	posts.respond = ({ url }) => {
		if (url === HEALTHY) return {};
		most = Math.max(most, posts.inFlight().length);
		mostOf.set(url, Math.max(mostOf.get(url) ?? 0, posts.inFlight(url).length));
		return undefined;
	};
	for (const post of hanging()) fail(post);
	await scene.emit(conversations('second'));
	await scene.untilStatus(healthy, 'delivered', 60);
	await until('their slots are taken', () => hanging().length === 50);
	for (let round = 0; mostOf.size < DEAD || round < 4; round++) {
		const before = posts.posts.length;
		for (const post of hanging()) fail(post);
		time.advance(60_000);
		await until('others of them have their turn', () => posts.posts.length >= before + 50);
		assert.ok(round < 20, 'none of them waits for ever');
	}
	assert.ok(Math.max(...mostOf.values()) <= 2, 'each of them has two at most');
	assert.ok(most <= 52, `${most} are under way`);
	await scene.emit(conversations('third'));
	await scene.untilStatus(healthy, 'delivered', 90);
});

test('slow and busy endpoints leave slots for others', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = ({ url }) => (url === HEALTHY ? {} : undefined);
	for (let at = 0; at < 30; at++) await scene.register({ url: `https://slow-${at}.example/hook` });
	const events = Array.from({ length: 40 }, (_, at) => `conv_${at}`);
	await scene.emit(events);
	scene.start();
	await until('slots are taken', () => posts.inFlight().length >= 120);
	for (let round = 0; round < 3; round++) {
		for (const post of posts.inFlight().slice(0, 60)) post.end();
		await until('slots are taken again', () => posts.inFlight().length >= 100);
	}
	const healthy = await scene.register({ url: HEALTHY });
	await scene.emit(events);
	await scene.untilStatus(healthy, 'delivered', 40);
	assert.ok(posts.inFlight().length >= 100 && posts.inFlight().length < 150, 'the slow ones have what they had');
});

test('tries an endpoint that failed before the restart two at a time until a delivery succeeds', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	let most = 0;
	let failures = 0;
	posts.respond = () => {
		most = Math.max(most, posts.inFlight().length);
		return failures++ < 5 ? NO_RESPONSE : undefined;
	};
	const endpoint = await scene.register();
	await scene.emit(['conv_before']);
	scene.start();
	await until('the failure is stored', async () => (await scene.store.deliveries.failingSince(endpoint.id)) !== null);
	await scene.restart();
	await scene.emit(Array.from({ length: 20 }, (_, at) => `conv_${at}`));
	await until('retries are under way', () => {
		if (time.pendingTimers.length > 0) time.advance(60_000);
		return most === 2;
	});
	assert.equal(most, 2);
	posts.inFlight()[0]?.end();
	await until('it is sent more at once', () => most === 10);
});

test('six hundred hanging endpoints of one workspace do not delay other workspaces', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, store } = scene;
	const hostile = Array.from({ length: 3 }, (_, at) => `ws_hostile_${at}`);
	posts.respond = ({ url }) => (url === HEALTHY ? {} : undefined);
	for (let at = 0; at < 600; at++)
		await scene.register({ url: `https://${at}.example/`, workspace_id: 'ws_hostile_0' });
	for (const workspace_id of hostile.slice(1)) await scene.register({ url: 'https://other.example/', workspace_id });
	const healthy = await scene.register({ url: HEALTHY });
	const annoy = (n: number) =>
		store.commit({
			events: hostile.map((stream) => ({ ...event(stream, 'message.created', { n }), subject: `conv_${n}` })),
		});
	const hanging = () => posts.inFlight().filter(({ url }) => url !== HEALTHY);
	scene.start();
	await annoy(0);
	await until('a workspace has its share', () => hanging().length === 202);
	await scene.emit(['conv_a']);
	await scene.untilStatus(healthy, 'delivered', 1);
	// They answer well, but take their time about it: then they share slots with those that fail.
	const begun = new Set<string>();
	for (let seen = 0; seen < 602; ) {
		for (const post of hanging()) {
			begun.add(post.url);
			post.end({ duration_ms: 4_900 });
		}
		seen = posts.posts.length - 1;
		await until('others have their turn', () => posts.posts.length - 1 > seen || seen >= 602);
	}
	await annoy(1);
	await until('the others have what is left', () => hanging().length === 52);
	await scene.emit(['conv_a']);
	await scene.untilStatus(healthy, 'delivered', 2);
	assert.equal(hanging().length, 52);
});

test('an endpoint that fails once or twice does not wait for endpoints that always fail', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = ({ url }) => (url === HEALTHY ? undefined : TIMED_OUT);
	for (let at = 0; at < DEAD; at++) await scene.register({ url: `https://dead-${at}.example/hook` });
	const healthy = await scene.register({ url: HEALTHY });
	scene.start();
	await scene.emit(['conv_a']);
	for (const post of await until('it is called', () => posts.inFlight(HEALTHY)[0] && posts.inFlight(HEALTHY))) {
		post.end(SERVER_ERROR);
	}
	await until('all have failed', async () => posts.posts.length === DEAD + 1);
	posts.respond = () => undefined;
	await scene.emit(['conv_b', 'conv_c', 'conv_d']);
	const own = () => posts.inFlight(HEALTHY);
	await until('the slots of those that fail are taken', () => posts.inFlight().length - own().length === 50);
	await until('it is called', () => own().length === 2);
	own()[0]?.end(SERVER_ERROR);
	await until('it is called again', () => own().length === 2);
	for (const post of own()) post.end();
	await scene.untilStatus(healthy, 'delivered', 2);
});

test('an endpoint that is enabled or gets another URL has its full concurrency again', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	await scene.emit(Array.from({ length: 40 }, (_, at) => `conv_${at}`));
	scene.start();
	await until('it is only probed', () => scene.time.pendingTimers.includes(1_000));
	posts.respond = () => undefined;
	scene.deliverer.wake(endpoint.id, { resetHealth: true });
	await until('ten are under way', () => posts.inFlight().length === 10);
});

test('a probed endpoint that gets another URL receives first attempts without a pause', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	scene.start();
	for (const pauses of [0, 0, 1]) {
		const [id] = await scene.emit([`conv_${posts.posts.length}`]);
		await until('it has failed', async () =>
			(await scene.deliveries(endpoint)).some(({ event_id, attempts }) => event_id === id && attempts === 1),
		);
		await until('it waits', () => time.pendingTimers.filter((ms) => ms === 1_000).length === pauses);
	}
	scene.deliverer.wake(endpoint.id, { resetHealth: true });
	await scene.emit(['conv_new']);
	await posts.nthPost(3);
});

test('more than ten concurrent attempts cause no warning', async (t) => {
	const warned: string[] = [];
	const note = ({ name }: Error) => warned.push(name);
	process.on('warning', note);
	t.after(() => process.off('warning', note));
	const scene = await deliveryHarness(t);
	for (let at = 0; at < 20; at++) await scene.register({ url: `https://${at}.example/` });
	await scene.emit(['conv_a', 'conv_b']);
	scene.start();
	await scene.posts.nthPost(39);
	await new Promise((resolve) => setImmediate(resolve));
	assert.deepEqual(warned, []);
});
