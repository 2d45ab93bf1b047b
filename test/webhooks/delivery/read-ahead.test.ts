import assert from 'node:assert/strict';
import test from 'node:test';
import type { DeliveryRecord } from '../../../src/store/index.ts';
import { type InFlight, nextToStart, ReadAhead } from '../../../src/webhooks/delivery/read-ahead.ts';
import { delivery, NOON } from '../../store/samples.ts';

const make = (id: string, due_at: number, subject: string | null = id): DeliveryRecord => ({
	version: 1,
	...delivery({ id, due_at, subject, status: 'pending' }),
});
const several = (count: number, name: string, due_at: number) =>
	Array.from({ length: count }, (_, at) => make(`${name}_${at}`, due_at));
const ids = (all: readonly DeliveryRecord[]) => all.map(({ id }) => id);
const none = new Map<string, InFlight>();

/** What is read ahead of these. */
function aheadOf(waiting: DeliveryRecord[]): ReadAhead {
	const due = () => waiting.filter(({ due_at }) => (due_at ?? 0) <= NOON);
	return new ReadAhead(
		{
			async due(_, __, limit) {
				const [retries, fresh] = [
					due().filter(({ due_at }) => due_at !== 0),
					due().filter(({ due_at }) => due_at === 0),
				];
				return { retries: retries.slice(0, limit), firstAttempts: fresh.slice(0, limit) };
			},
			async dueExcept(_, __, excludedOrderingKeys, limit) {
				return due()
					.filter(({ subject }) => !excludedOrderingKeys.includes(subject ?? ''))
					.slice(0, limit);
			},
			async nextDueAfter() {
				const times = waiting.map(({ due_at }) => due_at ?? 0).filter((at) => at > NOON);
				return times.length === 0 ? null : Math.min(...times);
			},
		},
		'wh_any',
	);
}

function take(ahead: ReadAhead, from: 'retries' | 'firstAttempts', count: number): void {
	for (const one of ahead[from].slice(0, count)) ahead.remove(one);
}

test('starts retries before first attempts, each in order, unless their ordering key is busy', () => {
	const retries = [make('r1', NOON - 2, 'conv_a'), make('r2', NOON - 1, 'conv_b')];
	const firstAttempts = [make('f1', 0, 'conv_a'), make('f2', 0, 'conv_c'), make('f3', 0, null)];
	const next = (busy: string[], { fresh: may = true } = {}) =>
		nextToStart({ retries, firstAttempts }, { busyKeys: new Set(busy), allowFirstAttempts: may })?.id;
	assert.equal(next([]), 'r1');
	assert.equal(next(['conv_a']), 'r2');
	assert.equal(next(['conv_a', 'conv_b']), 'f2');
	assert.equal(next(['conv_a', 'conv_b', 'conv_c']), 'f3');
	assert.equal(next(['conv_a', 'conv_b', 'conv_c', firstAttempts[2]?.event_type ?? '']), undefined);
	assert.equal(next(['conv_a', 'conv_b'], { fresh: false }), undefined);
});

test('reads more retries when few are left, however many first attempts there are', async () => {
	const ahead = aheadOf([...several(200, 'retry', NOON - 1), ...several(200, 'firstAttempts', 0)]);
	assert.ok(ahead.needsMore(false), 'nothing was read yet');
	await ahead.read(none, NOON);
	assert.deepEqual([ahead.retries.length, ahead.firstAttempts.length], [32, 64]);
	take(ahead, 'retries', 16);
	assert.equal(ahead.needsMore(true), false);
	take(ahead, 'retries', 1);
	assert.deepEqual([ahead.needsMore(true), ahead.needsMore(false)], [true, true]);
});

test('reads more first attempts when few are left and they may start', async () => {
	const ahead = aheadOf(several(200, 'firstAttempts', 0));
	await ahead.read(none, NOON);
	take(ahead, 'firstAttempts', 48);
	assert.equal(ahead.needsMore(true), false);
	take(ahead, 'firstAttempts', 1);
	assert.deepEqual([ahead.needsMore(true), ahead.needsMore(false)], [true, false]);
	ahead.invalidate();
	assert.equal(ahead.needsMore(false), true);
});

test('reads nothing more after all was read, until something may have become due', async () => {
	const ahead = aheadOf([...several(3, 'retry', NOON), ...several(3, 'firstAttempts', 0), make('later', NOON + 7)]);
	assert.equal(await ahead.read(none, NOON), NOON + 7);
	take(ahead, 'retries', 3);
	assert.deepEqual([ahead.needsMore(true), ahead.isEmpty], [false, false]);
	take(ahead, 'firstAttempts', 3);
	assert.deepEqual([ahead.needsMore(true), ahead.isEmpty], [false, true]);
	ahead.invalidate();
	assert.deepEqual([ahead.needsMore(true), ahead.isEmpty], [true, false]);
});

test('a retry that becomes due waits only for other retries, not for first attempts read before', async () => {
	const ahead = aheadOf([make('retry', NOON), ...several(5, 'firstAttempts', 0)]);
	await ahead.read(none, NOON);
	ahead.onRetryDue();
	assert.deepEqual([ahead.retries.length, ahead.firstAttempts.length], [1, 5]);
	take(ahead, 'retries', 1);
	ahead.onRetryDue();
	assert.deepEqual([ahead.firstAttempts.length, ahead.needsMore(false)], [0, true]);
});

test('does not read running deliveries again, but records that they have changed', async () => {
	const waiting = several(3, 'firstAttempts', 0);
	const ahead = aheadOf(waiting);
	const inHand = new Map(waiting.slice(0, 2).map((one) => [one.id, { delivery: one, changed: false }]));
	waiting[1] = { ...(waiting[1] as DeliveryRecord), version: 3 };
	await ahead.read(inHand, NOON);
	assert.deepEqual(ids(ahead.firstAttempts), ['firstAttempts_2']);
	assert.deepEqual(
		[...inHand.values()].map(({ changed }) => changed),
		[false, true],
	);
});

test('looks once for deliveries with other ordering keys behind those that were read', async () => {
	const busy = Array.from({ length: 100 }, (_, at) => make(`busy_${at}`, 0, 'conv_busy'));
	const ahead = aheadOf([...busy, make('other', 0), make('retry', NOON)]);
	await ahead.read(none, NOON);
	await ahead.readOtherKeys(none, new Set(['conv_busy']), NOON);
	assert.deepEqual([ids(ahead.retries), ids(ahead.firstAttempts).slice(64)], [['retry'], ['other']]);
	assert.equal(ahead.needsMore(true), false, 'there was no more of it');
	const many = aheadOf([...busy, ...several(100, 'firstAttempts', 0)]);
	await many.read(none, NOON);
	await many.readOtherKeys(none, new Set(['conv_busy']), NOON);
	assert.equal(many.firstAttempts.length, 128);
	assert.equal(many.needsMore(true), true);
});
