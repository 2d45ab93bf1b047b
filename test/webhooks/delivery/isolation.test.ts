import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../../support/until.ts';
import { NO_ANSWER, type Post } from './posts.ts';
import { deliveryScene } from './scene.ts';

const HEALTHY = 'https://healthy.example/hook';
const DEAD = 60;

test('sixty endpoints that never answer take nothing from one that does', async (t) => {
	const scene = await deliveryScene(t);
	const { posts } = scene;
	posts.answer = ({ url }) => (url === HEALTHY ? {} : undefined);
	const dead: { id: string; url: string }[] = [];
	for (let at = 0; at < DEAD; at++) dead.push(await scene.register({ url: `https://dead-${at}.example/hook` }));
	const healthy = await scene.register({ url: HEALTHY });
	const hanging = () => posts.underWay().filter(({ url }) => url !== HEALTHY);
	const conversations = (name: string) => Array.from({ length: 30 }, (_, at) => `${name}_${at}`);

	// Nobody has failed yet: all are taken for sound.
	await scene.emit(conversations('first'));
	scene.start();
	await until('each of the dead has something under way', () => new Set(hanging().map(({ url }) => url)).size === DEAD);
	await scene.settled(healthy, 'delivered', 30);
	assert.equal(posts.made.filter(({ ended, url }) => ended && url !== HEALTHY).length, 0, 'all the others hang');
	assert.ok(hanging().length <= 200, `${hanging().length} are under way`);

	// They have failed: from now on they share slots of their own.
	let most = 0;
	const mostOf = new Map<string, number>();
	const fail = (post: Post) => post.end(NO_ANSWER);
	for (const post of hanging()) fail(post);
	for (const { id } of dead) {
		await until('the failure is stored', async () => (await scene.store.failingSince(id)) !== null);
	}
	posts.answer = ({ url }) => (url === HEALTHY ? {} : NO_ANSWER);
	for (const post of hanging()) fail(post);
	await until('all have been tried', async () => {
		const all = await Promise.all(dead.map((endpoint) => scene.deliveries(endpoint)));
		return all.flat().every(({ attempts }) => attempts === 1);
	});
	posts.answer = ({ url }) => {
		if (url === HEALTHY) return {};
		most = Math.max(most, hanging().length);
		mostOf.set(url, Math.max(mostOf.get(url) ?? 0, posts.underWay(url).length));
		return undefined;
	};
	await scene.emit(conversations('second'));
	await scene.settled(healthy, 'delivered', 60);
	await until('their slots are taken', () => hanging().length === 50);
	assert.equal(hanging().length, 50);
	assert.ok(Math.max(...mostOf.values()) <= 2, 'each of them has two at most');
	for (let round = 0; round < 4; round++) {
		const before = posts.made.length;
		for (const post of hanging()) fail(post);
		await until('others of them have their turn', () => posts.made.length >= before + 50);
	}
	assert.equal(mostOf.size, DEAD, 'none of them waits for ever');
	assert.equal(most, 50);
	await scene.emit(conversations('third'));
	await scene.settled(healthy, 'delivered', 90);
});

test('endpoints that are slow and busy leave room for one that is not', async (t) => {
	const scene = await deliveryScene(t);
	const { posts } = scene;
	posts.answer = ({ url }) => (url === HEALTHY ? {} : undefined);
	for (let at = 0; at < 30; at++) await scene.register({ url: `https://slow-${at}.example/hook` });
	const events = Array.from({ length: 40 }, (_, at) => `conv_${at}`);
	await scene.emit(events);
	scene.start();
	await until('slots are taken', () => posts.underWay().length >= 120);
	for (let round = 0; round < 3; round++) {
		for (const post of posts.underWay().slice(0, 60)) post.end();
		await until('slots are taken again', () => posts.underWay().length >= 100);
	}
	const healthy = await scene.register({ url: HEALTHY });
	await scene.emit(events);
	await scene.settled(healthy, 'delivered', 40);
	assert.ok(posts.underWay().length >= 100 && posts.underWay().length < 150, 'the slow ones have what they had');
});
