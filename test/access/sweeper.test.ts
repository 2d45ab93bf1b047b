import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Sweeper } from '../../src/access/index.ts';
import { AppError, createLog } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { session } from '../store/samples.ts';
import { until } from '../support/until.ts';
import { standingClock } from './people.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-sweeper-'));
const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(folder, { recursive: true, force: true });
});

const log = createLog('silent');

test('everything whose time is over is erased, in portions, and nothing else', async () => {
	const clock = standingClock();
	const over = Array.from({ length: 1_200 }, () => session({ expires_at: clock.now() }));
	const kept = session({ expires_at: clock.now() + 1 });
	await store.commit({ write: [...over, kept].map((record) => ({ op: 'insert', kind: 'sessions', record })) });
	const answer = { scope: 'ws', body_hash: 'hash', status: 201, body: '{}' };
	await store.commit({ idempotency: { ...answer, key: 'over', expires_at: clock.now() } });
	await store.commit({ idempotency: { ...answer, key: 'kept', expires_at: clock.now() + 60_000 } });
	let portions = 0;
	const counted = {
		hasExpired: (before: number) => store.hasExpired(before),
		commit: (commit: Parameters<typeof store.commit>[0]) => {
			portions++;
			return store.commit(commit);
		},
	};
	await using sweeper = new Sweeper({ store: counted, clock, log });
	await Promise.all([sweeper.sweep(), sweeper.sweep()]);
	assert.equal(portions, 3);
	const left = await store.list('sessions', { where: {}, order: 'asc', limit: 9 });
	assert.deepEqual(
		left.map(({ id }) => id),
		[kept.id],
	);
	assert.equal(await store.hasExpired(clock.now()), false);
	assert.equal(await store.hasExpired(clock.now() + 60_000), true);
});

test('it begins at the start', async () => {
	const clock = standingClock();
	const gone = session({ expires_at: clock.now() - 1 });
	await store.commit({ write: [{ op: 'insert', kind: 'sessions', record: gone }] });
	await using sweeper = new Sweeper({ store, clock, log });
	sweeper.start();
	await until('the session is erased', async () => (await store.get('sessions', gone.id)) === undefined);
});

test('a disk that fails is no reason to stop, and closing waits for what is under way', async () => {
	const asked: string[] = [];
	const failing = {
		hasExpired: async () => true,
		commit: async () => {
			asked.push('commit');
			throw new AppError('unavailable');
		},
	};
	const sweeper = new Sweeper({ store: failing, clock: standingClock(), log });
	sweeper.start();
	await until('it has tried', () => asked.length === 1);
	await assert.rejects(sweeper.sweep(), { code: 'unavailable' });
	await sweeper[Symbol.asyncDispose]();
	assert.equal(asked.length, 2);
});
