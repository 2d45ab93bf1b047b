import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deferred, deferred, ReadWriteLock } from '../../src/base/index.ts';

/** Tasks of a lock that end when the test says so, and which of them run. */
class Tasks {
	readonly lock = new ReadWriteLock();
	readonly running = new Set<string>();
	readonly #ends = new Map<string, Deferred<void>>();

	begin(name: string, kind: 'shared' | 'exclusive', signal?: AbortSignal): Promise<void> {
		const end = deferred<void>();
		this.#ends.set(name, end);
		return this.lock[kind](async () => {
			this.running.add(name);
			await end.promise;
			this.running.delete(name);
		}, signal);
	}

	async end(name: string): Promise<void> {
		this.#ends.get(name)?.resolve();
		await settle();
	}
}

/** Lets everything run that waits for no more than promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('runs shared tasks concurrently and exclusive ones alone, in order of arrival', async () => {
	const tasks = new Tasks();
	const all = [
		tasks.begin('a', 'shared'),
		tasks.begin('b', 'shared'),
		tasks.begin('C', 'exclusive'),
		tasks.begin('d', 'shared'),
		tasks.begin('E', 'exclusive'),
	];
	await settle();
	assert.deepEqual([...tasks.running], ['a', 'b']);
	await tasks.end('a');
	assert.deepEqual([...tasks.running], ['b'], 'the exclusive one waits for all');
	await tasks.end('b');
	assert.deepEqual([...tasks.running], ['C'], 'and what came later waits for it');
	await tasks.end('C');
	assert.deepEqual([...tasks.running], ['d']);
	await tasks.end('d');
	assert.deepEqual([...tasks.running], ['E']);
	await tasks.end('E');
	await Promise.all(all);
});

test('an aborted waiter does not block those behind it', async () => {
	const tasks = new Tasks();
	const ending = new AbortController();
	const first = tasks.begin('a', 'shared');
	const left = assert.rejects(tasks.begin('B', 'exclusive', ending.signal), /gone/);
	const last = tasks.begin('c', 'shared');
	await settle();
	assert.deepEqual([...tasks.running], ['a']);
	ending.abort(new Error('gone'));
	await left;
	await settle();
	assert.deepEqual([...tasks.running], ['a', 'c']);
	await tasks.end('a');
	await tasks.end('c');
	await Promise.all([first, last]);
	await assert.rejects(tasks.begin('D', 'exclusive', ending.signal), /gone/);
	const free = tasks.begin('E', 'exclusive');
	await tasks.end('E');
	await free;
});

test('a failed task releases the lock', async () => {
	const lock = new ReadWriteLock();
	const failing = lock.exclusive(async () => {
		throw new Error('It does not work.');
	});
	await assert.rejects(failing, /does not work/);
	assert.equal(await lock.shared(async () => 1), 1);
});
