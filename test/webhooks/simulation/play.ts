// A program: plays simulations and writes their totals as JSON. It fails with the seed of a simulation that broke an invariant.
//   SEED=7 SEEDS=1   only the simulation with seed 7
import { checkInvariants } from './invariants.ts';
import { Simulation } from './simulation.ts';

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.SEEDS);

const ends = { delivered: 0, failed: 0, cancelled: 0, attempts: 0, disabled: 0 };
for (let seed = first; seed < first + count; seed++) {
	try {
		const outcome = await new Simulation(seed).run();
		checkInvariants(outcome);
		for (const { status } of outcome.deliveries) if (status !== 'pending') ends[status] += 1;
		ends.attempts += outcome.received.length;
		for (const { disabled_reason } of outcome.webhooks.values()) {
			if (disabled_reason?.startsWith('Every attempt')) ends.disabled += 1;
		}
	} catch (error) {
		throw new Error(`With seed ${seed}: ${(error as Error).message}`, { cause: error });
	}
}
process.stdout.write(JSON.stringify(ends));
