import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActorSystem, LocalTransport } from '../../src/actors/index.ts';
import { ReadyItems } from '../../src/base/index.ts';

const unexpected = (_id: string, thrown: unknown) => assert.ifError(thrown);

test('a subscription begins after the position it names', async () => {
	await using system = new ActorSystem<string, string>({
		load: () => ({ handle: (message) => message }),
		reportFailure: unexpected,
	});
	const transport = new LocalTransport<string, string, string>(system, (id, after) => {
		return new ReadyItems([`${id} after ${after ?? 'now'}`]);
	});
	assert.equal(transport.subscribe('x', '7.2').read(), 'x after 7.2');
	assert.equal(transport.subscribe('x', undefined).read(), 'x after now');
	assert.equal(await transport.ask('x', 'echo', { deadlineMs: 60_000 }), 'echo');
});
