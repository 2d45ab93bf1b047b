// Own process: it starts servers and measures their memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryOut } from './attack.ts';
import { MIB } from './scenario.ts';
import { scenariosOf } from './scenarios.ts';

/** The short form of `npm run hostility`. How long honest clients wait is not compared: it depends on the machine. */
const EXTENT = { scale: 0.02, seconds: 0.4, quietSeconds: 0.05, spareBytes: 128 * MIB };

test('hostile clients exceed no limit, take a bounded part of the memory, and leave nothing behind', {
	skip: process.platform === 'linux' ? false : 'this system has no /proc, and one loopback address',
}, async (t) => {
	const scenarios = scenariosOf(EXTENT);
	let carriedOut = 0;
	for await (const { name, problems, growthBytes, attack } of carryOut(scenarios, EXTENT)) {
		carriedOut++;
		await t.test(`honest clients are answered meanwhile: ${name}`, (t) => {
			t.diagnostic(`memory +${Math.round(growthBytes / MIB)} MiB, answers ${JSON.stringify(attack.statuses)}`);
			assert.deepEqual(problems, []);
		});
	}
	assert.equal(carriedOut, scenarios.length);
});
