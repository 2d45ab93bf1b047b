import { Random } from '../../support/random.ts';
import type { ActionName } from '../action-name.ts';

/** How the messages between the nodes and the database behave. */
export interface ClusterHabits {
	delayChance: number;
	maxDelayMs: number;
	/** Of a request about a lease, and of its response. */
	lossChance: number;
}

/** What a simulation with two nodes has in addition. */
export interface ClusterPlan {
	habits: ClusterHabits;
	/** Chances of the actions, beside those of the plan. */
	actions: ReadonlyArray<readonly [ActionName, number]>;
	/** Longest time for which a node is frozen, or cut off from the database. */
	maxFreezeMs: number;
	/** The wall clock of a process is ahead by one of these (ms). */
	clockOffsets: readonly number[];
	/** Longest time between two actions. Leases end in between. */
	maxPauseMs: number;
	/** Longest time between two pieces of a reply. */
	maxModelPauseMs: number;
}

const ACTIONS: ReadonlyArray<readonly [ActionName, number, presence: number]> = [
	['freeze', 3, 0.6],
	['cut off', 3, 0.4],
	['kill', 2, 0.3],
	['drain', 1, 0.2],
];
export const MAX_CLOCK_OFFSET_MS = 3_600_000;

/** Drawn apart, so that a seed plays the same conversations with one node and with two. */
export function makeClusterPlan(seed: number): ClusterPlan {
	const random = new Random(seed + 0x5eed);
	const rarely = (chance: number) => (random.chance(0.4) ? chance * random.next() : 0);
	return {
		habits: { delayChance: rarely(0.3), maxDelayMs: random.pick([50, 1_000, 8_000]), lossChance: rarely(0.2) },
		actions: ACTIONS.flatMap(([name, weight, presence]): Array<readonly [ActionName, number]> => {
			return random.chance(presence) ? [[name, weight * (0.3 + random.next())]] : [];
		}),
		maxFreezeMs: random.pick([2_000, 6_000, 20_000]),
		clockOffsets: random.chance(0.3) ? [0, 2_000, MAX_CLOCK_OFFSET_MS, -MAX_CLOCK_OFFSET_MS] : [0],
		maxPauseMs: random.pick([100, 1_000, 3_000]),
		maxModelPauseMs: random.pick([20, 400, 2_000]),
	};
}
