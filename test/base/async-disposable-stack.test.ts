import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AsyncDisposableStack, sleep } from '../../src/base/index.ts';

/** A thing that writes down when it begins and ends to close. */
function thing(log: string[], name: string, failure?: Error): AsyncDisposable {
	return {
		async [Symbol.asyncDispose]() {
			log.push(`${name} begins`);
			await sleep(1);
			log.push(`${name} ends`);
			if (failure) throw failure;
		},
	};
}

test('disposes resources one at a time, the last one first', async () => {
	const log: string[] = [];
	{
		await using owned = new AsyncDisposableStack();
		owned.use(thing(log, 'store'));
		owned.use({ [Symbol.dispose]: () => void log.push('timer') });
		owned.use(thing(log, 'server'));
	}
	assert.deepEqual(log, ['server begins', 'server ends', 'timer', 'store begins', 'store ends']);
});

test('disposes the others when one fails, and reports every failure', async () => {
	const log: string[] = [];
	const owned = new AsyncDisposableStack();
	owned.use(thing(log, 'store', new Error('store')));
	owned.use(thing(log, 'pool'));
	owned.use(thing(log, 'server', new Error('server')));
	await assert.rejects(owned[Symbol.asyncDispose](), (error: AggregateError) => {
		assert.deepEqual(
			error.errors.map((failure: Error) => failure.message),
			['server', 'store'],
		);
		return true;
	});
	assert.deepEqual(
		log.filter((line) => line.endsWith('ends')),
		['server ends', 'pool ends', 'store ends'],
	);
});

test('reports a single failure as well', async () => {
	const owned = new AsyncDisposableStack();
	owned.use(thing([], 'store', new Error('store')));
	await assert.rejects(owned[Symbol.asyncDispose](), AggregateError);
});

test('only the new owner disposes moved resources, once', async () => {
	const log: string[] = [];
	const first = new AsyncDisposableStack();
	first.use(thing(log, 'store'));
	const second = first.move();
	await first[Symbol.asyncDispose]();
	assert.deepEqual(log, []);
	await second[Symbol.asyncDispose]();
	await second[Symbol.asyncDispose]();
	assert.deepEqual(log, ['store begins', 'store ends']);
});
