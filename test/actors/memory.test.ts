// Own process: it measures the heap.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ActorSystem } from '../../src/actors/index.ts';

const ACTORS = 20_000;

test('an actor at rest costs the runtime less than two kilobytes', async () => {
	setFlagsFromString('--expose-gc');
	const collectGarbage = runInNewContext('gc') as () => void;
	const handle = (message: string) => message;
	await using system = new ActorSystem<string, string>({
		load: () => ({ handle }),
		reportFailure: (_id, thrown) => assert.ifError(thrown),
	});
	await system.ask('first', 'hello');
	collectGarbage();
	const before = process.memoryUsage().heapUsed;
	for (let i = 0; i < ACTORS; i++) await system.ask(`conv_${i}`, 'hello');
	collectGarbage();
	const each = (process.memoryUsage().heapUsed - before) / ACTORS;
	assert.equal(system.residents, ACTORS + 1);
	assert.ok(each < 2_048, `${Math.round(each)} bytes each`);
});
