import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../../src/base/index.ts';
import type { Commit } from '../../../src/store/index.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';

const cancels = ({ write = [] }: Commit) => write.some(({ op }) => op === 'cancel_deliveries');

test('what is about to be cancelled when an endpoint is revived is looked at anew: what is new is kept', async (t) => {
	const scene = await deliveryHarness(t);
	const { store, storeOverrides } = scene;
	const endpoint = await scene.register();
	await scene.emit(['conv_old']);
	await scene.setStatus(endpoint, 'disabled');
	let tried = 0;
	storeOverrides.commit = async (commit) => {
		if (cancels(commit) && ++tried === 1) {
			// Between the look at it and the commit.
			await store.commit({ write: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at: 1, limit: 10 }] });
			await scene.setStatus(endpoint, 'active');
			await scene.emit(['conv_new']);
		}
		return store.commit(commit);
	};
	scene.start();
	await until('it was tried to be cancelled', () => tried === 1);
	(await scene.posts.nthPost(0)).end();
	const all = await scene.untilStatus(endpoint, 'delivered', 1);
	assert.deepEqual(
		all.map(({ subject, status }) => [subject, status]),
		[
			['conv_old', 'cancelled'],
			['conv_new', 'delivered'],
		],
	);
	assert.equal(tried, 1);
});

test('what waits at a disabled endpoint is ended in portions before it is revived', async (t) => {
	const scene = await deliveryHarness(t);
	const { store, storeOverrides, deliverer } = scene;
	const endpoint = await scene.register();
	await scene.emit(Array.from({ length: 1_200 }, () => 'conv_a'));
	await scene.setStatus(endpoint, 'disabled');
	const disabled = await store.get('webhooks', endpoint.id);
	assert.ok(disabled);
	const portions: number[] = [];
	const waiting = async () => (await scene.deliveries(endpoint)).filter(({ status }) => status === 'pending').length;
	storeOverrides.commit = async (commit) => {
		const before = await waiting();
		const end = await store.commit(commit);
		portions.push(before - (await waiting()));
		return end;
	};
	await deliverer.cancelAll(disabled);
	assert.deepEqual(portions, [500, 500, 200]);
	await deliverer.cancelAll(disabled);
	assert.equal(portions.length, 3, 'nothing is left to do');
});

test('who changes the endpoint meanwhile has the last word on what waits there', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	await scene.setStatus(endpoint, 'disabled');
	const before = await scene.store.get('webhooks', endpoint.id);
	assert.ok(before);
	await scene.setStatus(endpoint, 'active');
	await scene.deliverer.cancelAll(before);
	assert.equal((await scene.deliveries(endpoint))[0]?.status, 'pending');
});

test('an endpoint at which too much waits cannot be revived yet, and says so', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register({ status: 'disabled' });
	let commits = 0;
	scene.storeOverrides.deliveries.nextDueAfter = async () => 0;
	scene.storeOverrides.commit = async (commit) => {
		commits += 1;
		return scene.store.commit(commit);
	};
	const refusal = await scene.deliverer.cancelAll(endpoint).catch((error: unknown) => error);
	assert.ok(refusal instanceof AppError);
	assert.deepEqual([refusal.code, commits], ['unavailable', 40]);
	assert.match(refusal.message, /still being cancelled/);
});

test('a server that hears when it tidies that another one has followed sends nothing more', async (t) => {
	const scene = await deliveryHarness(t);
	const endpoint = await scene.register();
	await scene.emit(['conv_a']);
	await scene.setStatus(endpoint, 'disabled');
	let refused = 0;
	scene.storeOverrides.commit = async () => {
		refused += 1;
		return { outcome: 'fenced' };
	};
	scene.start();
	await until('it hears of it', () => refused === 1);
	const other = await scene.register({ url: 'https://other.example/' });
	await scene.emit(['conv_b']);
	scene.deliverer.wake(other.id);
	scene.deliverer.cleanUp();
	await scene.deliverer.drain();
	assert.deepEqual([scene.posts.posts.length, refused], [0, 1]);
});
