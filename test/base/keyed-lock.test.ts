import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred, KeyedLock } from '../../src/base/index.ts';

test('tasks of one key run one after the other, in order of arrival', async () => {
	const lock = new KeyedLock();
	const log: string[] = [];
	const gates = [deferred<void>(), deferred<void>(), deferred<void>()];
	const runs = gates.map((gate, index) =>
		lock.run('a', async () => {
			log.push(`begin ${index}`);
			await gate.promise;
			log.push(`end ${index}`);
			return index;
		}),
	);
	for (const gate of gates.toReversed()) gate.resolve();
	assert.deepEqual(await Promise.all(runs), [0, 1, 2]);
	assert.deepEqual(log, ['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2']);
});

test('tasks of different keys run concurrently', async () => {
	const lock = new KeyedLock();
	const gate = deferred<void>();
	const slow = lock.run('a', () => gate.promise);
	await lock.run('b', async () => gate.resolve());
	await slow;
});

test('a failed task rejects only for its caller, and the next one runs', async () => {
	const lock = new KeyedLock();
	const runs = await Promise.allSettled([
		lock.run('a', async () => Promise.reject(new Error('first'))),
		lock.run('a', () => {
			throw new Error('second, at once');
		}),
		lock.run('a', async () => 'third'),
	]);
	assert.deepEqual(
		runs.map((run) => (run.status === 'fulfilled' ? run.value : (run.reason as Error).message)),
		['first', 'second, at once', 'third'],
	);
});

test('a key can be locked again after all tasks have ended', async () => {
	const lock = new KeyedLock();
	assert.equal(await lock.run('a', async () => 1), 1);
	assert.equal(await lock.run('a', async () => 2), 2);
});
