import { Random } from '../support/random.ts';
import type { ActionName } from './action-name.ts';
import { type ClusterPlan, makeClusterPlan } from './cluster/cluster-plan.ts';
import type { ModelHabits } from './simulated-model.ts';
import type { WriterFault } from './simulated-writer.ts';

/** What one simulation consists of. Most of them leave many things out: then the others meet more often. */
export interface Plan {
	/** Chances of the actions, not normalised. */
	actions: ReadonlyArray<readonly [ActionName, number]>;
	actionCount: number;
	/** Longest time between two actions. */
	maxPauseMs: number;
	maxConversations: number;
	faults: ReadonlyArray<readonly [WriterFault, number]>;
	model: ModelHabits;
	hasTool: boolean;
	keyedChance: number;
	retentionDays: number | null;
	/** Whether the retention is that of the deployment, not of the workspace. */
	isRetentionOfDeployment: boolean;
	/** Null: there is one process. */
	cluster: ClusterPlan | null;
}

const ACTIONS: ReadonlyArray<readonly [ActionName, number, presence: number]> = [
	['send', 10, 1],
	['sendToNew', 3, 1],
	['repeat', 4, 0.6],
	['stop', 3, 0.5],
	['follow', 4, 0.8],
	['disconnect', 4, 0.6],
	['takeOver', 3, 0.5],
	['release', 2, 0.9],
	['say', 3, 0.7],
	['rename', 2, 0.3],
	['archive', 1, 0.2],
	['reopen', 1, 0.8],
	['purge', 1, 0.2],
	['markRead', 2, 0.3],
	['kill', 2, 0.4],
	['drain', 1, 0.15],
	['pass a day', 1, 0.1],
];

const FAULTS: ReadonlyArray<readonly [WriterFault, number, presence: number]> = [
	['refused', 0.05, 0.25],
	['committed-with-error', 0.02, 0.2],
	['silent', 0.01, 0.15],
	['killed-before', 0.02, 0.25],
	['killed-after', 0.02, 0.25],
	['stalled', 0.02, 0.1],
];

/** @param nodes how many processes serve the conversations, on one database */
export function makePlan(seed: number, nodes: 1 | 2 = 1): { plan: Plan; random: Random } {
	const random = new Random(seed);
	const chosen = <T extends string>(list: ReadonlyArray<readonly [T, number, number]>) =>
		list.flatMap(([name, weight, presence]): Array<readonly [T, number]> => {
			return random.chance(presence) ? [[name, weight * (0.3 + random.next())]] : [];
		});
	const rarely = (chance: number) => (random.chance(0.4) ? chance * random.next() : 0);
	const plan: Plan = {
		actions: chosen(ACTIONS),
		actionCount: random.between(5, 30),
		maxPauseMs: random.pick([5, 100, 1_000, 10_000]),
		maxConversations: random.between(1, 3),
		faults: chosen(FAULTS),
		model: {
			failChance: rarely(0.5),
			stallChance: rarely(0.2),
			emptyChance: rarely(0.3),
			toolChance: random.next() * 0.8,
			ignoresAbort: random.chance(0.1),
			maxPieces: random.between(1, 8),
			maxPauseMs: random.pick([2, 20, 400]),
		},
		hasTool: random.chance(0.3),
		keyedChance: random.next(),
		retentionDays: random.chance(0.5) ? 1 : null,
		// Not drawn: the seeds play what they played before there was such a retention.
		isRetentionOfDeployment: seed % 2 === 1,
		cluster: null,
	};
	return { plan: nodes === 1 ? plan : withCluster(plan, makeClusterPlan(seed)), random };
}

/** Faults of the disk become those of the messages to the database. */
function withCluster(plan: Plan, cluster: ClusterPlan): Plan {
	const faults = plan.faults.flatMap(([fault, chance]): Plan['faults'][number][] => {
		if (fault === 'committed-with-error') return [['late-request', chance * 3]];
		if (fault === 'stalled') return [['late-answer', chance * 3]];
		return [[fault, chance]];
	});
	return {
		...plan,
		...{ cluster, faults, maxPauseMs: cluster.maxPauseMs, actions: [...plan.actions, ...cluster.actions] },
		model: { ...plan.model, maxPauseMs: cluster.maxModelPauseMs },
	};
}

/** One of several names, by their chances. */
export function pickWeighted<T>(random: Random, list: ReadonlyArray<readonly [T, number]>): T {
	let at = random.next() * list.reduce((sum, [, weight]) => sum + weight, 0);
	for (const [name, weight] of list) {
		at -= weight;
		if (at < 0) return name;
	}
	return (list.at(-1) as readonly [T, number])[0];
}
