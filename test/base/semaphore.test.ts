import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deferred, deferred, Semaphore } from '../../src/base/index.ts';

/** Tasks that the test ends, and the order in which they started. */
function tasks() {
	const begun: string[] = [];
	const ends = new Map<string, Deferred<string>>();
	const task = (name: string) => {
		const end = deferred<string>();
		ends.set(name, end);
		return () => {
			begun.push(name);
			return end.promise;
		};
	};
	return { begun, task, end: (name: string) => ends.get(name) as Deferred<string> };
}

const settled = (): Promise<void> => new Promise(setImmediate);

test('runs as many tasks as there are permits, the others in order of arrival', async () => {
	const gate = new Semaphore(2, 10);
	const { begun, task, end } = tasks();
	const names = ['a', 'b', 'c', 'd', 'e'];
	const runs = names.map((name) => gate.run(task(name)));
	await settled();
	assert.deepEqual(begun, ['a', 'b']);
	end('b').resolve('b');
	await settled();
	assert.deepEqual(begun, ['a', 'b', 'c']);
	end('a').reject(new Error('a failed'));
	await assert.rejects(runs[0] as Promise<string>, /a failed/);
	await settled();
	assert.deepEqual(begun, ['a', 'b', 'c', 'd'], 'one that fails makes room, too');
	for (const name of ['c', 'd', 'e']) end(name).resolve(name);
	assert.deepEqual(await Promise.all(runs.slice(1)), ['b', 'c', 'd', 'e']);
});

test('tasks in the preferred queue go before all others and are not refused because of them', async () => {
	const gate = new Semaphore(1, 2);
	const { begun, task, end } = tasks();
	const runs = ['a', 'b', 'c'].map((name) => gate.run(task(name)));
	await assert.rejects(gate.run(task('one too many')), { code: 'unavailable' });
	for (const name of ['first', 'second']) runs.push(gate.run(task(name), undefined, 'preferred'));
	await assert.rejects(gate.run(task('one too many'), undefined, 'preferred'), { code: 'unavailable' });
	for (const name of ['a', 'first', 'second', 'b', 'c']) {
		await settled();
		assert.equal(begun.at(-1), name);
		end(name).resolve(name);
	}
	assert.deepEqual(await Promise.all(runs), ['a', 'b', 'c', 'first', 'second']);
});

test('a new task does not take a permit that is promised to a waiter', async () => {
	const gate = new Semaphore(1, 10);
	const { begun, task, end } = tasks();
	const first = gate.run(task('first'));
	const waiting = gate.run(task('waiting'));
	end('first').resolve('first');
	await first;
	const late = gate.run(task('late'));
	await settled();
	assert.deepEqual(begun, ['first', 'waiting']);
	end('waiting').resolve('waiting');
	end('late').resolve('late');
	await Promise.all([waiting, late]);
	assert.deepEqual(begun, ['first', 'waiting', 'late']);
});

test('refuses a task at once when the queue is full, and still runs the waiting ones', async () => {
	const gate = new Semaphore(1, 2);
	const { begun, task, end } = tasks();
	const runs = ['a', 'b', 'c'].map((name) => gate.run(task(name)));
	await assert.rejects(gate.run(task('d')), { code: 'unavailable', retry_after: 1 });
	for (const name of ['a', 'b', 'c']) end(name).resolve(name);
	await Promise.all(runs);
	assert.deepEqual(begun, ['a', 'b', 'c']);
});

test('a task aborted while it waits never starts and frees its place in the queue', async () => {
	const gate = new Semaphore(1, 1);
	const { begun, task, end } = tasks();
	const first = gate.run(task('first'));
	const ending = new AbortController();
	const called = assert.rejects(gate.run(task('called off'), ending.signal), /no longer wanted/);
	ending.abort(new Error('no longer wanted'));
	await called;
	await assert.rejects(gate.run(task('too late'), ending.signal), /no longer wanted/);
	const next = gate.run(task('next'), new AbortController().signal);
	end('first').resolve('first');
	end('next').resolve('next');
	await Promise.all([first, next]);
	assert.deepEqual(begun, ['first', 'next']);
});
