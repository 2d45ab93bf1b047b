import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrustedTime, Sweeper } from '../../src/access/index.ts';
import { AppError, ClockJumpDetector, createLog } from '../../src/base/index.ts';
import { auditRecord, session } from '../store/samples.ts';
import { ManualClock, manualWallClock } from '../support/manual-clock.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { until } from '../support/until.ts';

const store = await openTemporaryStore();

const log = createLog('silent');

test('erases all expired records in batches, and nothing else', async () => {
	const clock = manualWallClock();
	const over = Array.from({ length: 1_200 }, () => session({ expires_at: clock.now() }));
	const kept = session({ expires_at: clock.now() + 1 });
	await store.commit({ write: [...over, kept].map((record) => ({ op: 'insert', kind: 'sessions', record })) });
	const oldRecords = Array.from({ length: 600 }, () => auditRecord({ expires_at: clock.now() }));
	const record = auditRecord({ expires_at: clock.now() + 1 });
	const records = [...oldRecords, record].map((each) => ({
		op: 'insert' as const,
		kind: 'audit_log' as const,
		record: each,
	}));
	await store.commit({ write: records });
	const response = { scope: 'ws', body_hash: 'hash', status: 201, body: '{}' };
	await store.commit({ idempotency: { ...response, key: 'over', expires_at: clock.now() } });
	await store.commit({ idempotency: { ...response, key: 'kept', expires_at: clock.now() + 60_000 } });
	let portions = 0;
	const counted = {
		get: store.get.bind(store),
		access: store.access,
		spending: store.spending,
		commit: (commit: Parameters<typeof store.commit>[0]) => {
			portions++;
			return store.commit(commit);
		},
	};
	await using sweeper = new Sweeper({ store: counted, jumpDetector: new ClockJumpDetector(clock), log });
	await Promise.all([sweeper.sweep(), sweeper.sweep()]);
	assert.equal(portions, 4, 'three, and the time that was noted');
	const left = await store.list('sessions', { where: {}, order: 'asc', limit: 9 });
	assert.deepEqual(
		left.map(({ id }) => id),
		[kept.id],
	);
	const logged = await store.list('audit_log', { where: {}, order: 'asc', limit: 9 });
	assert.deepEqual(
		logged.map(({ id }) => id),
		[record.id],
	);
	assert.equal(await store.access.hasExpiredRecords(clock.now()), false);
	assert.equal(await store.access.hasExpiredRecords(clock.now() + 60_000), true);
});

test('sweeps at the start', async () => {
	const clock = manualWallClock();
	const gone = session({ expires_at: clock.now() - 1 });
	await store.commit({ write: [{ op: 'insert', kind: 'sessions', record: gone }] });
	await using sweeper = new Sweeper({ store, jumpDetector: new ClockJumpDetector(clock), log });
	sweeper.start();
	await until('the session is erased', async () => (await store.get('sessions', gone.id)) === undefined);
});

test('continues after a failure of the disk, and closing waits for the run in progress', async () => {
	const asked: string[] = [];
	const failing = {
		get: store.get.bind(store),
		spending: store.spending,
		access: { hasExpiredRecords: async () => true },
		commit: async () => {
			asked.push('commit');
			throw new AppError('unavailable');
		},
	};
	const sweeper = new Sweeper({ store: failing, jumpDetector: new ClockJumpDetector(manualWallClock()), log });
	sweeper.start();
	await until('it has tried', () => asked.length === 1);
	await assert.rejects(sweeper.sweep(), { code: 'unavailable' });
	await sweeper[Symbol.asyncDispose]();
	assert.equal(asked.length, 2);
});

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test('a clock that is 45 days ahead for a moment erases no session and no stored response, also across a restart', async () => {
	const clock = new ManualClock(Date.now());
	const kept = session({ expires_at: clock.now() + DAY });
	await store.commit({ write: [{ op: 'insert', kind: 'sessions', record: kept }] });
	const response = { scope: 'jump', body_hash: 'hash', status: 201, body: '{}', key: 'kept' };
	await store.commit({ idempotency: { ...response, expires_at: clock.now() + DAY } });
	const remains = async () => [
		(await store.get('sessions', kept.id)) !== undefined,
		(await store.idempotency.storedResponse(response)) !== undefined,
	];
	const sweeperNow = async () =>
		new Sweeper({ store, jumpDetector: new ClockJumpDetector(clock, await readTrustedTime(store)), log });
	{
		await using sweeper = await sweeperNow();
		await sweeper.sweep();
		clock.adjust(45 * DAY);
		await sweeper.sweep();
		assert.deepEqual(await remains(), [true, true], 'while it is ahead');
	}
	for (const start of ['first', 'second']) {
		await using sweeper = await sweeperNow();
		await sweeper.sweep();
		assert.deepEqual(await remains(), [true, true], `after the ${start} start in that time`);
	}
	clock.adjust(-45 * DAY);
	await using sweeper = await sweeperNow();
	await sweeper.sweep();
	assert.deepEqual(await remains(), [true, true], 'when it is right again');
	clock.advance(2 * DAY);
	await sweeper.sweep();
	assert.deepEqual(await remains(), [false, false], 'when their time is truly over');
});
