import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../../src/base/index.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';

test('finishes and stores running attempts before the server stops, and starts no more', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	const idle = await scene.register({ events: ['conversation.closed'] });
	await scene.emit(['conv_a', 'conv_a', 'conv_b']);
	scene.start();
	await posts.nthPost(1);
	let drained = false;
	const draining = scene.deliverer.drain().then(() => {
		drained = true;
	});
	await scene.emit(['conv_c']);
	scene.deliverer.wake(endpoint.id);
	posts.posts[0]?.end();
	await scene.untilStatus(endpoint, 'delivered', 1);
	assert.equal(drained, false, 'one is still under way');
	posts.posts[1]?.end();
	await draining;
	const all = await scene.deliveries(endpoint);
	assert.deepEqual(
		all.map(({ status, due_at }) => [status, due_at]),
		[
			['delivered', null],
			['pending', 0],
			['delivered', null],
			['pending', 0],
		],
	);
	assert.equal(posts.posts.length, 2);
	let looked = false;
	scene.storeOverrides.deliveries.failingSince = async () => {
		looked = true;
		return null;
	};
	scene.deliverer.wake(endpoint.id);
	scene.deliverer.wake(idle.id);
	assert.equal(looked, false, 'nobody looks for more');
	delete scene.storeOverrides.deliveries.failingSince;
	await scene.restart();
	for (const at of [2, 3]) (await posts.nthPost(at)).end();
	await scene.untilStatus(endpoint, 'delivered', 4);
	assert.equal(posts.posts.length, 4);
});

test('makes the unfinished deliveries of an earlier process due at once', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const endpoint = await scene.register();
	const [first] = await scene.emit(['conv_a', 'conv_a']);
	scene.start();
	await posts.nthPost(0);
	await scene.restart();
	assert.ok(posts.posts[0]?.aborted, 'its attempt is broken off');
	const again = await posts.nthPost(1);
	assert.deepEqual([again.event, again.body], [first, posts.posts[0]?.body]);
	again.end();
	(await posts.nthPost(2)).end();
	const all = await scene.untilStatus(endpoint, 'delivered', 2);
	assert.deepEqual(
		all.map(({ attempts }) => attempts),
		[1, 1],
	);
});

test('stops although the disk is full', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => ({});
	await scene.register();
	await scene.emit(['conv_a']);
	scene.storeOverrides.commit = async () => {
		throw new AppError('unavailable', 'The disk is full.');
	};
	scene.start();
	await until('it waits for better times', () => time.pendingTimers.length > 0);
	await scene.deliverer.drain();
	assert.equal(posts.posts.length, 1);
	assert.deepEqual(time.pendingTimers, []);
});

test('sends a stored event at once to each endpoint of its workspace that subscribes to its type', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	posts.respond = () => ({});
	const [all, some, foreign] = [
		await scene.register({ url: 'https://all.example/' }),
		await scene.register({ url: 'https://some.example/', events: ['assistant.updated', 'conversation.closed'] }),
		await scene.register({ url: 'https://foreign.example/', workspace_id: 'ws_other' }),
	];
	const off = await scene.register({ url: 'https://off.example/', status: 'disabled' });
	scene.start();
	await scene.emit(['conv_a']);
	await scene.untilStatus(all, 'delivered', 1);
	await scene.emit([null], 'assistant.updated');
	await scene.untilStatus(all, 'delivered', 2);
	await scene.untilStatus(some, 'delivered', 1);
	await scene.deliverer.drain();
	assert.deepEqual(posts.posts.map(({ url }) => url).sort(), [all.url, all.url, some.url]);
	assert.deepEqual([await scene.deliveries(foreign), await scene.deliveries(off)], [[], []]);
});
