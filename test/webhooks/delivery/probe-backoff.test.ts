import assert from 'node:assert/strict';
import test from 'node:test';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { type DeliveryHarness, deliveryHarness } from './delivery-harness.ts';
import { SERVER_ERROR } from './manual-network.ts';

const several = (count: number, name = 'conv') => Array.from({ length: count }, (_, at) => `${name}_${at}`);

/** Counts what is read of what is due. */
function countReads({ storeOverrides, store }: DeliveryHarness): { due: number; besides: number } {
	const reads = { due: 0, besides: 0 };
	storeOverrides.deliveries.due = (...given) => {
		reads.due += 1;
		return store.deliveries.due(...given);
	};
	storeOverrides.deliveries.dueExcept = (...given) => {
		reads.besides += 1;
		return store.deliveries.dueExcept(...given);
	};
	return reads;
}

test('probes an endpoint that keeps failing one delivery at a time, with pauses that grow to a minute', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	const events = await scene.emit(several(300));
	// What was tried waits for long, so that only what is new is called for.
	scene.storeOverrides.commit = (commit) =>
		scene.store.commit({
			...commit,
			write: (commit.write ?? []).map((write) =>
				write.op === 'patch' && write.kind === 'deliveries' && (write.set.due_at ?? 0) > 0
					? { ...write, set: { ...write.set, due_at: NOON + 6 * 3_600_000 } }
					: write,
			),
		});
	scene.start();
	const fresh = () => posts.posts.length;
	const began = fresh();
	for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
		await until(`a pause of ${pause} ms`, () => time.pendingTimers.includes(pause));
		const before = fresh();
		await scene.emit(['conv_later']);
		time.advance(pause - 1);
		assert.equal(fresh(), before, 'nothing meanwhile');
		time.advance(1);
		await until('one more is tried', () => fresh() === before + 1);
	}
	assert.ok(fresh() - began <= 10 + 4 + 8, `${fresh()} were tried`);
	await until('a pause', () => time.pendingTimers.includes(60_000));
	posts.respond = () => ({});
	time.advance(60_000);
	await until('all are sent', () => fresh() >= 308, 60_000);
	const order = posts.posts.map(({ event }) => events.indexOf(event)).filter((at) => at >= 0);
	assert.deepEqual(order, [...events.keys()], 'in the order of the log');
	await scene.deliverer.drain();
	assert.equal((await scene.deliveries(endpoint)).filter(({ attempts }) => attempts !== 1).length, 0);
});

test('retries due deliveries although first attempts wait', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	await scene.emit(['conv_a', 'conv_b', 'conv_c', 'conv_d']);
	scene.start();
	await until(
		'there is a pause',
		async () =>
			(await scene.deliveries(endpoint)).every(({ attempts }) => attempts === 1) && time.pendingTimers[0] === 5_000,
	);
	await scene.emit(['conv_e', 'conv_f', 'conv_g']);
	await until('there is a pause', () => time.pendingTimers[0] !== undefined && time.pendingTimers[0] < 5_000);
	for (const [round, delay] of [5_000, 10_000, 20_000, 40_000].entries()) {
		time.advance(delay);
		await until('the first four are tried again', async () =>
			(await scene.deliveries(endpoint)).slice(0, 4).every(({ attempts }) => attempts === round + 2),
		);
	}
	// An attempt that is still running would overwrite the time that a person asks for.
	await until('the outcome of every attempt is stored', async () => {
		const stored = (await scene.deliveries(endpoint)).reduce((sum, { attempts }) => sum + attempts, 0);
		return stored === posts.posts.length;
	});
	const [asked] = await scene.deliveries(endpoint).then((all) => all.slice(-1));
	assert.ok(asked);
	await scene.change(asked, { due_at: time.now() });
	const before = posts.posts.length;
	scene.deliverer.wake(endpoint.id);
	await until('what a person asks for is tried', () =>
		posts.posts.slice(before).some(({ event }) => event === asked.event_id),
	);
});

test('does not read all pending deliveries again for an endpoint that rejects every other event', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const reads = countReads(scene);
	posts.respond = () => (posts.posts.length % 2 === 0 ? SERVER_ERROR : {});
	await scene.register();
	await scene.emit(several(600));
	scene.start();
	await until('all were tried', () => posts.posts.length === 600, 60_000);
	assert.ok(reads.due <= 40, `${reads.due} reads`);
	assert.ok(reads.besides <= 20, `${reads.besides} searches`);
});

test('does not search again for each rejected event of a conversation with very many events', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts } = scene;
	const reads = countReads(scene);
	posts.respond = () => (posts.posts.length % 2 === 0 ? SERVER_ERROR : {});
	await scene.register();
	await scene.emit(Array(400).fill('conv_busy'));
	scene.start();
	await until('all were tried', () => posts.posts.length === 400, 60_000);
	assert.ok(reads.due <= 30, `${reads.due} reads`);
	assert.ok(reads.besides <= 30, `${reads.besides} searches`);
});

test('an event causes no reads for endpoints without due deliveries', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = ({ url }) => (url === 'https://waits.example/' ? SERVER_ERROR : {});
	const waits = await scene.register({ url: 'https://waits.example/', events: ['assistant.updated'] });
	const other = await scene.register({ url: 'https://other.example/', events: ['message.created'] });
	const read: string[] = [];
	scene.storeOverrides.deliveries.due = (id, ...given) => {
		read.push(id);
		return scene.store.deliveries.due(id, ...given);
	};
	scene.start();
	await scene.emit([null], 'assistant.updated');
	await until('it waits', () => time.pendingTimers.includes(5_000));
	const before = read.filter((id) => id === waits.id).length;
	for (let at = 1; at <= 5; at++) {
		await scene.emit([`conv_${at}`]);
		await scene.untilStatus(other, 'delivered', at);
	}
	assert.equal(read.filter((id) => id === waits.id).length, before);
	posts.respond = () => ({});
	time.advance(5_000);
	await scene.untilStatus(waits, 'delivered', 1);
});

test('events during a pause cause no reads and are sent after it', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	const read: string[] = [];
	scene.storeOverrides.deliveries.due = (id, ...given) => {
		read.push(id);
		return scene.store.deliveries.due(id, ...given);
	};
	const reads = () => read.filter((id) => id === endpoint.id).length;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	const beside = await scene.register({ url: 'https://beside.example/', events: ['message.created'] });
	scene.start();
	await scene.emit(several(20), 'conversation.closed');
	await until('there is a pause', () => time.pendingTimers.includes(1_000));
	posts.respond = () => ({});
	const before = reads();
	for (let at = 1; at <= 5; at++) {
		await scene.emit([`conv_later_${at}`]);
		await scene.untilStatus(beside, 'delivered', at);
	}
	assert.equal(reads(), before);
	time.advance(1_000);
	await scene.untilStatus(endpoint, 'delivered', 11);
});

test('retries first what is due first, whatever has failed since', async (t) => {
	const scene = await deliveryHarness(t);
	const { posts, time } = scene;
	posts.respond = () => SERVER_ERROR;
	const endpoint = await scene.register();
	const [first] = await scene.emit(['conv_a']);
	scene.start();
	await until('it waits', () => time.pendingTimers.includes(5_000));
	time.advance(1_000);
	await scene.emit(['conv_b']);
	await until('both have failed', async () =>
		(await scene.deliveries(endpoint)).every(({ attempts }) => attempts === 1),
	);
	await until('both wait', () => time.pendingTimers.length > 0);
	time.advance(4_000);
	await until('the first is tried again', () => posts.posts.length === 3);
	assert.equal(posts.posts[2]?.event, first);
});
