import assert from 'node:assert/strict';
import test from 'node:test';
import type { DeliveryRecord } from '../../../src/store/index.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { type DeliveryHarness, deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

const HOUR = 3_600_000;

/** Stores an event that is refused now. */
async function refuse(scene: DeliveryHarness, subject: string): Promise<void> {
	const before = scene.posts.posts.length;
	const [id] = await scene.emit([subject]);
	await until('it is refused', () => scene.posts.posts.slice(before).some(({ event }) => event === id));
}

test('disables an endpoint after 120 hours of failures and cancels its pending deliveries', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	const spared = await scene.register({ url: 'https://spared.example/', events: ['conversation.closed'] });
	scene.start();
	await refuse(scene, 'conv_a');
	await until('the failure is stored', async () => (await store.deliveries.failingSince(endpoint.id)) === NOON);
	time.advance(120 * HOUR - 1);
	await refuse(scene, 'conv_b');
	const still = await until('it is tried', async () => {
		const all = await scene.deliveries(endpoint);
		return all[1]?.attempts === 1 && all;
	});
	// The first one's own time was over meanwhile.
	assert.deepEqual(
		still.map(({ status }) => status),
		['failed', 'pending'],
	);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active', 'a millisecond is left');
	time.advance(1);
	// Refused 5 s later than the others, so that these wait.
	posts.respond = () => undefined;
	await scene.emit(['conv_c', 'conv_d', 'conv_e']);
	await until('two are under way', () => posts.inFlight().length === 2);
	let atOnce: DeliveryRecord[] = [];
	scene.storeOverrides.commit = async (commit) => {
		const outcome = await store.commit(commit);
		const disables = commit.write?.some((write) => write.op === 'patch' && write.kind === 'webhooks');
		if (disables) atOnce = await scene.deliveries(endpoint);
		return outcome;
	};
	const [first, second] = posts.inFlight();
	first?.end(SERVER_ERROR);
	const all = await scene.untilStatus(endpoint, 'cancelled', 4);
	assert.deepEqual(
		all.map(({ status, due_at, completed_at }) => [status, due_at, completed_at !== null]),
		[['failed', null, true], ...Array(4).fill(['cancelled', null, true])],
	);
	await until('the deliveries are read after the commit', () => atOnce.length > 0);
	assert.deepEqual(
		atOnce.map(({ status }) => status),
		['failed', ...Array(4).fill('cancelled')],
		'with the commit that disables it',
	);
	const disabled = await store.get('webhooks', endpoint.id);
	assert.deepEqual(
		[disabled?.status, disabled?.disabled_reason, disabled?.updated_at],
		['disabled', `Every attempt since ${new Date(NOON).toISOString()} has failed.`, time.now()],
	);
	assert.equal((await store.get('webhooks', spared.id))?.status, 'active');
	// Attempts that were running at that time change nothing.
	second?.end(SERVER_ERROR);
	await until('its end is stored', async () => (await scene.deliveries(endpoint))[3]?.attempts === 1);
	const made = posts.posts.length;
	await scene.emit(['conv_f']);
	time.advance(HOUR);
	await scene.restart();
	await scene.emit([null], 'conversation.closed');
	await until('the other endpoint is called', () => posts.inFlight('https://spared.example/').length === 1);
	assert.equal(posts.posts.length, made + 1);
	assert.equal((await scene.deliveries(endpoint)).length, 5, 'nothing is kept for it either');
	assert.equal((await store.get('webhooks', endpoint.id))?.version, disabled?.version);
});

test('a success restarts the 120 hours', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	scene.start();
	await refuse(scene, 'conv_a');
	await until('the failure is stored', async () => (await store.deliveries.failingSince(endpoint.id)) === NOON);
	// Later than that, but nothing has failed meanwhile.
	time.advance(121 * HOUR);
	posts.respond = () => ({});
	await scene.emit(['conv_b']);
	await until('the failure is forgotten', async () => (await store.deliveries.failingSince(endpoint.id)) === null);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active');
	posts.respond = () => SERVER_ERROR;
	time.advance(HOUR);
	const since = time.now();
	await refuse(scene, 'conv_c');
	await until('the failure is stored', async () => (await store.deliveries.failingSince(endpoint.id)) === since);
	time.advance(119 * HOUR);
	await refuse(scene, 'conv_d');
	await until('the last one is tried', async () => (await scene.deliveries(endpoint)).at(-1)?.attempts === 1);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active');
	// The last one is tried once more, and fails again.
	time.advance(HOUR);
	await until('it is disabled', async () => (await store.get('webhooks', endpoint.id))?.status === 'disabled');
});

test('uses the current endpoint when it changes during its last attempt', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time, store } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	scene.start();
	await refuse(scene, 'conv_a');
	await until('the failure is stored', async () => (await store.deliveries.failingSince(endpoint.id)) === NOON);
	time.advance(121 * HOUR);
	scene.storeOverrides.commit = async (commit) => {
		const disables = commit.write?.some((write) => write.op === 'patch' && write.kind === 'webhooks');
		if (disables) {
			delete scene.storeOverrides.commit;
			const set = { url: 'https://elsewhere.example/' };
			await store.commit({
				write: [
					{ op: 'patch', kind: 'webhooks', id: endpoint.id, set },
					{ op: 'clear_failures', webhook_id: endpoint.id },
				],
			});
		}
		return store.commit(commit);
	};
	await refuse(scene, 'conv_b');
	await until('its end is stored', async () => (await scene.deliveries(endpoint)).at(-1)?.attempts === 1);
	assert.equal(Object.hasOwn(scene.storeOverrides, 'commit'), false);
	assert.equal((await store.get('webhooks', endpoint.id))?.status, 'active', 'elsewhere it has not failed for long');
});
