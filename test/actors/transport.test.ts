import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActorSystem, LocalTransport } from '../../src/actors/index.ts';

const unexpected = (_id: string, thrown: unknown) => assert.ifError(thrown);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
	const collected: T[] = [];
	for await (const item of items) collected.push(item);
	return collected;
}

test('a subscription begins after the position it names', async () => {
	await using system = new ActorSystem<string, string>({
		load: () => ({ handle: (message) => message }),
		reportFailure: unexpected,
	});
	const transport = new LocalTransport<string, string, string>(system, async function* (id, after) {
		yield `${id} after ${after ?? 'now'}`;
	});
	const { signal } = new AbortController();
	assert.deepEqual(await collect(transport.subscribe('x', '7.2', signal)), ['x after 7.2']);
	assert.deepEqual(await collect(transport.subscribe('x', undefined, signal)), ['x after now']);
	assert.equal(await transport.ask('x', 'echo', { deadlineMs: 60_000 }), 'echo');
});
