import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActorSystem, LocalTransport } from '../../src/actors/index.ts';
import { deferred } from '../../src/base/index.ts';

const unexpected = (_id: string, thrown: unknown) => assert.ifError(thrown);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
	const collected: T[] = [];
	for await (const item of items) collected.push(item);
	return collected;
}

function counters(gate?: Promise<void>) {
	const system = new ActorSystem<'add', number>({
		load: () => {
			let count = 0;
			return {
				async handle() {
					await gate;
					return ++count;
				},
			};
		},
		reportFailure: unexpected,
		drainTimeoutMs: 100,
	});
	const transport = new LocalTransport<'add', number, string>(system, async function* (id, after) {
		yield `${id} after ${after ?? 'now'}`;
	});
	return { system, transport };
}

test('an ask that is repeated while the first is under way joins it', async () => {
	const gate = deferred<void>();
	const { system, transport } = counters(gate.promise);
	await using _ = system;
	const options = { deadlineMs: 1_000, idempotencyKey: 'k' };
	const answers = [transport.ask('x', 'add', options), transport.ask('x', 'add', options)];
	const others = [
		transport.ask('x', 'add', { deadlineMs: 1_000, idempotencyKey: 'other' }),
		transport.ask('y', 'add', options),
		transport.ask('x', 'add', { deadlineMs: 1_000 }),
	];
	gate.resolve();
	assert.deepEqual(await Promise.all([...answers, ...others]), [1, 1, 2, 1, 3]);
	assert.equal(await transport.ask('x', 'add', options), 4, 'what has ended is the memory of the store');
});

test('an ask that fails is forgotten, so that a repeat may succeed', async () => {
	const gate = deferred<void>();
	const { system, transport } = counters(gate.promise);
	await using _ = system;
	const late = transport.ask('x', 'add', { deadlineMs: 5, idempotencyKey: 'k' });
	await assert.rejects(late, { code: 'unavailable' });
	gate.resolve();
	assert.ok((await transport.ask('x', 'add', { deadlineMs: 1_000, idempotencyKey: 'k' })) >= 1);
});

test('a subscription begins after the position it names', async () => {
	const { system, transport } = counters();
	await using _ = system;
	const { signal } = new AbortController();
	assert.deepEqual(await collect(transport.subscribe('x', '7.2', signal)), ['x after 7.2']);
	assert.deepEqual(await collect(transport.subscribe('x', undefined, signal)), ['x after now']);
});

test('a hint to a sleeping actor is no error and wakes nobody', async () => {
	const { system, transport } = counters();
	await using _ = system;
	transport.tellIfActive('x', 'add');
	assert.equal(system.residents, 0);
});
