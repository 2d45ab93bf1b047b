import assert from 'node:assert/strict';
import test from 'node:test';
import { checkInvariants } from './simulation/invariants.ts';
import { Simulation } from './simulation/simulation.ts';

const SEEDS = 500;
/** Where to begin; set it to the seed that a failure names, with SEEDS=1, to see it again. */
const FIRST = Number(process.env.SEED ?? 1);
const COUNT = Number(process.env.SEEDS ?? SEEDS);

/** The totals of all simulations, or why one of them broke an invariant. */
async function play() {
	const ends = { delivered: 0, failed: 0, cancelled: 0, attempts: 0, disabled: 0 };
	for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
		try {
			const outcome = await new Simulation(seed).run();
			checkInvariants(outcome);
			for (const { status } of outcome.deliveries) if (status !== 'pending') ends[status] += 1;
			ends.attempts += outcome.received.length;
			for (const { disabled_reason } of outcome.webhooks.values()) {
				if (disabled_reason?.startsWith('Every attempt')) ends.disabled += 1;
			}
		} catch (error) {
			return { failure: new Error(`With seed ${seed}: ${(error as Error).message}`, { cause: error }) };
		}
	}
	return { ends };
}

// Before the first test, because the runner then tracks every promise, which takes half as long as the simulations.
const { ends, failure } = await play();

test(`loses no event in ${COUNT} simulations with failing receivers, changes by people and crashes`, () => {
	if (failure) throw failure;
	// A simulation in which nothing happens would satisfy every invariant.
	if (COUNT === SEEDS) for (const [end, count] of Object.entries(ends)) assert.ok(count > 20, `${end}: only ${count}`);
	console.log(JSON.stringify(ends));
});
