import { DAY_MS } from '../base/index.ts';
// What was spent on replies. Amounts are whole micros of the server's currency; a day is its beginning in ms since the epoch, UTC.

/** The day of a time (ms since the epoch): its beginning, UTC. */
export function dayOf(time: number): number {
	return Math.floor(time / DAY_MS) * DAY_MS;
}

/** The kinds of accounts, each with its sums by day. */
export type SpendingDimension = 'workspace' | 'deployment' | 'visitor' | 'model';

/** Whose accounts a reply is charged to. */
export interface Spender {
	workspace_id: string;
	deployment_id: string;
	/** Null for clients of the API. */
	visitor_id: string | null;
	/** The full name of the model. */
	model: string;
}

/** What an account may have spent and reserved in a range of days (both inclusive). */
export interface SpendingLimit {
	dimension: Exclude<SpendingDimension, 'model'>;
	amount: number;
	from: number;
	to: number;
}

/** What is reserved for a reply, and the day on which it counts. */
export interface Reserved {
	amount: number;
	day: number;
}

/** A change of what was spent. */
export type SpendingWrite =
	/**
	 * Reserves an amount for a reply, until `spending.settle` or the erasure of its conversation. The commit is refused as
	 * `over_budget` if an account would exceed its limit.
	 */
	| {
			op: 'spending.reserve';
			message_id: string;
			conversation_id: string;
			spender: Spender;
			day: number;
			amount: number;
			limits: readonly SpendingLimit[];
	  }
	/** Adds an amount to the reservation of a reply, if there is one. Refused like `spending.reserve`. */
	| { op: 'spending.extend'; message_id: string; amount: number; limits: readonly SpendingLimit[] }
	/**
	 * Ends the reservation of a reply and adds its cost, on the day of the reservation. If the reservation has been ended before,
	 * nothing is added. With `unreserved`, nothing was reserved: the cost is added for that spender on that day.
	 */
	| { op: 'spending.settle'; message_id: string; cost: number; unreserved?: { spender: Spender; day: number } }
	/** Refuses the commit as a conflict if the visitor has no conversation: nothing about erased visitors is stored again. */
	| { op: 'spending.require_visitor'; visitor_id: string }
	/** Erases the sums of these visitors, and the events about their budgets, for the erasure of an end user, which counts the events. */
	| { op: 'spending.erase_visitors'; erasure_id: string; workspace_id: string; visitor_ids: readonly string[] }
	/**
	 * Ends the reservations of replies that no process writes, at the amount that was reserved. In a cluster: those of nodes that have
	 * ended. In the embedded store the process that sends this has just begun, so all are of earlier ones.
	 */
	| { op: 'spending.settle_abandoned' };

/** The sums of an account. */
export interface SpendingSums {
	spent: number;
	reserved: number;
}

/** The sums of an account on one day (ms since the epoch). */
export interface SpendingDay extends SpendingSums {
	day: number;
}

/** The sums of one account or day. */
export interface SpendingSum extends SpendingSums {
	/** A day, or the id of a deployment or visitor, or the name of a model. */
	key: string;
}

/** Which sums are listed. */
export interface SpendingQuery {
	workspaceId: string;
	groupBy: 'day' | Exclude<SpendingDimension, 'workspace'>;
	/** The first and the last day. */
	from: number;
	to: number;
	/** Only of this deployment. */
	deploymentId?: string | undefined;
	/** The last one of the page before. */
	after?: { spent: number; key: string } | undefined;
	limit: number;
}

/** The account of a spender in a dimension; null where it has none. The accounts of a deployment begin with its id and a colon. */
export function accountOf(
	dimension: SpendingDimension,
	spender: Omit<Spender, 'model'> & { model?: string },
): string | null {
	switch (dimension) {
		case 'workspace':
			return spender.workspace_id;
		case 'deployment':
			return spender.deployment_id;
		case 'visitor':
			return spender.visitor_id;
		case 'model':
			return `${spender.deployment_id}:${spender.model}`;
	}
}
