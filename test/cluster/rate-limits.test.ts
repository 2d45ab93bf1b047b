import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SharedRateLimits } from '../../src/access/index.ts';
import { createLog } from '../../src/base/index.ts';
import type { SharedLimits, UsedRequests } from '../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';

const NEVER = 3_600_000;

suite('rate limits in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	const open = async (name: string): Promise<PostgresStore> => openPostgresStore({ url: await server.database(name) });

	/** The rate limits of a node, which exchanges what was used when the test says so. */
	async function limitsOf(store: PostgresStore, clock = new ManualClock()) {
		const seen = { exchanges: 0, published: [] as UsedRequests[] };
		const watched: Pick<SharedLimits, 'exchangeUse'> = {
			exchangeUse(used) {
				seen.exchanges++;
				seen.published.push(...used);
				return store.sharedLimits.exchangeUse(used);
			},
		};
		const limits = new SharedRateLimits({ store: watched, clock, log: createLog('silent'), intervalMs: NEVER });
		// The first exchange, at the start.
		await limits.exchange();
		const take = (count: number, key = 'key_1', perMinute = 600) => {
			let allowed = 0;
			for (let taken = 0; taken < count; taken++) {
				if (limits.bucketsOf('credentials').tryConsume(key, perMinute).allowed) allowed++;
			}
			return allowed;
		};
		const remaining = (key = 'key_1') => limits.bucketsOf('credentials').tryConsume(key, 600).remaining + 1;
		return { limits, seen, take, remaining, [Symbol.asyncDispose]: () => limits[Symbol.asyncDispose]() };
	}

	test('what one node has used is taken from the buckets of the others, once', async () => {
		await using one = await open('taken');
		await using two = await open('taken');
		await using first = await limitsOf(one);
		await using second = await limitsOf(two);
		assert.equal(first.take(50), 50);
		await first.limits.exchange();
		assert.equal(second.take(10), 10);
		await second.limits.exchange();
		assert.equal(second.remaining(), 40);
		await second.limits.exchange();
		await first.limits.exchange();
		assert.equal(first.remaining(), 40, 'the ten of the second node');
		await first.limits.exchange();
		assert.equal(first.remaining(), 39);
	});

	test('keys and client networks have separate limits', async () => {
		await using one = await open('separate');
		await using two = await open('separate');
		await using first = await limitsOf(one);
		await using second = await limitsOf(two);
		first.take(100, 'same');
		await first.limits.exchange();
		second.take(10, 'another');
		await second.limits.exchange();
		assert.equal(second.limits.bucketsOf('credentials').tryConsume('same', 600).allowed, false);
		assert.equal(second.limits.bucketsOf('networks').tryConsume('same', 600).remaining, 99);
	});

	test('two nodes together allow about the limit, however many requests come', async () => {
		const clock = new ManualClock();
		await using one = await open('together');
		await using two = await open('together');
		await using first = await limitsOf(one, clock);
		await using second = await limitsOf(two, clock);
		let allowed = 0;
		for (let elapsed = 0; elapsed < 60; elapsed++) {
			allowed += first.take(100) + second.take(100);
			await first.limits.exchange();
			await second.limits.exchange();
			clock.advance(1_000);
		}
		// A minute's requests and a burst of each node. Without the exchange it would be 1,400.
		assert.ok(allowed >= 500 && allowed <= 850, `${allowed} requests`);
	});

	test('a node whose keys use little publishes and reads nothing', async () => {
		await using store = await open('idle');
		const clock = new ManualClock();
		await using node = await limitsOf(store, clock);
		node.take(4);
		await node.limits.exchange();
		assert.equal(node.seen.exchanges, 0);
		node.take(1);
		await node.limits.exchange();
		assert.deepEqual(node.seen.published, [{ key: 'credentials key_1', used: 5, perMinute: 600 }]);
		clock.advance(15_001);
		await node.limits.exchange();
		assert.equal(node.seen.exchanges, 1);
	});

	test('at most 300 keys are published at once, those closest to their limits first', async () => {
		await using store = await open('most');
		await using node = await limitsOf(store);
		for (let key = 0; key < 400; key++) node.take(key < 10 ? 50 : 5, `key_${key}`);
		await node.limits.exchange();
		const { published } = node.seen;
		assert.equal(published.length, 300);
		assert.ok(published.slice(0, 10).every(({ used }) => used === 50));
		await node.limits.exchange();
		assert.equal(published.length, 400);
	});

	test('a node that starts learns what the others have used in the last seconds', async () => {
		await using one = await open('start');
		await using late = await open('start');
		await using first = await limitsOf(one);
		first.take(100);
		await first.limits.exchange();
		const others = await late.sharedLimits.exchangeUse([]);
		assert.deepEqual(others, [{ key: 'credentials key_1', used: 100, perMinute: 600 }]);
		assert.deepEqual(await late.sharedLimits.exchangeUse([]), []);
	});
});
