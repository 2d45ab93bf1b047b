import type { AttackOrder } from './attacker.ts';
import type { ServerSize, Target } from './target.ts';

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** One kind of hostile clients. */
export interface Scenario {
	name: string;
	/** The server that is attacked. Absent: a large one. */
	size?: ServerSize;
	/** The order for the attacker. */
	order: (target: Target) => AttackOrder | Promise<AttackOrder>;
	/** What happens on the server meanwhile, for example messages for the streams. */
	meanwhile?: (target: Target) => Promise<void>;
	/** The most that the server's resident memory may grow meanwhile. */
	maxGrowthBytes: number;
	/** Statuses of answers to hostile requests that are expected, at least one of them. Absent: the answers do not matter. */
	expected?: readonly number[];
	/** The most hostile requests that may be answered 200 or 201 in this time. Absent: any number. */
	maxAdmitted?: (minutes: number) => number;
}

/** How much of the scenarios is carried out. */
export interface Extent {
	/** The part of the full number of connections. Numbers that a limit needs are not reduced. */
	scale: number;
	/** How long a flood lasts, and how long connections are held. */
	seconds: number;
	/** How long honest clients are measured before each attack. */
	quietSeconds: number;
	/** Memory that the server may have in addition to the bound of a scenario. */
	spareBytes: number;
}
