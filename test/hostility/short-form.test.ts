// Own process: it starts servers and measures their memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryOut, problemsOf } from './attack.ts';
import { type HeldByAttack, MIB } from './scenario.ts';
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

test('an attack that the system refused does not pass', () => {
	const attack = { open: 120, closed: 4_880, statuses: {} };
	const busy = { reads: [], messages: [], failed: [] };
	const problems = (held: HeldByAttack) =>
		problemsOf(
			{ maxGrowthBytes: MIB, held: { connections: 5_000, streams: 5_000 } },
			{ busy, attack, held, growthBytes: 0, minutes: 1 },
		);
	assert.deepEqual(problems({ connections: 5_001, streams: 5_000 }), []);
	assert.deepEqual(problems({ connections: 5_000, streams: 120 }), [
		'120 streams were open at once, the attack needs 5000',
	]);
	assert.equal(problems({}).length, 2);
});

test('an attack whose connections were answered instead of closed does not pass', () => {
	const busy = { reads: [], messages: [], failed: [] };
	const problems = (closed: number, statuses: Record<string, number>) =>
		problemsOf(
			{ maxGrowthBytes: MIB, leastClosed: 20 },
			{ busy, attack: { open: 0, closed, statuses }, held: {}, growthBytes: 0, minutes: 1 },
		);
	assert.deepEqual(problems(20, {}), []);
	assert.equal(problems(19, {}).length, 1);
	assert.equal(problems(20, { 400: 20 }).length, 1);
});
