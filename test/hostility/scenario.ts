import type { AttackOrder } from './attacker.ts';
import type { ServerSize, Target } from './target.ts';

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** What an attack holds on the server at once. */
export interface HeldByAttack {
	connections?: number;
	streams?: number;
}

/** One kind of hostile clients. It says what proves that the attack has taken place: `held`, `expected`, or `leastClosed`. */
export type Scenario = ScenarioBase &
	(
		| { held: HeldByAttack; expected?: readonly number[] }
		| { held?: HeldByAttack; expected: readonly [number, ...number[]] }
		| { leastClosed: number }
	);

/** What all scenarios have. */
export interface ScenarioBase {
	name: string;
	/** The server that is attacked. Absent: a large one. */
	size?: ServerSize;
	/** The order for the attacker. */
	order: (target: Target) => AttackOrder | Promise<AttackOrder>;
	/** The least that the server must hold when the order is carried out. Without it, an attack that the system refuses would pass. */
	held?: HeldByAttack;
	/** What happens on the server meanwhile, for example messages for the streams. */
	meanwhile?: (target: Target) => Promise<void>;
	/** The most that the server's resident memory may grow meanwhile. */
	maxGrowthBytes: number;
	/** Statuses of answers to hostile requests, at least one of which must come. Absent: the answers do not matter. */
	expected?: readonly number[];
	/** Connections that the server must close, at least. Absent: 0. */
	leastClosed?: number;
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
