import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../../src/base/index.ts';
import type { Commit } from '../../../src/store/index.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness } from './delivery-harness.ts';

const cancels = ({ write = [] }: Commit) => write.some(({ op }) => op === 'cancel_deliveries');

test('keeps new deliveries when an endpoint is enabled while the cleanup is about to cancel old ones', async (t) => {
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

test('cancels the pending deliveries of a disabled endpoint in batches before it is enabled', async (t) => {
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

test('stops cancelling when another request changes the endpoint meanwhile', async (t) => {
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

test('refuses to enable an endpoint with too many pending deliveries', async (t) => {
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

test('sends nothing more when the cleanup finds that another server owns the store', async (t) => {
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
