import type { Budgets } from '../costs/index.ts';
import { BUILTIN_MODEL, type Models } from '../models/index.ts';
import type { Commit, Spender, Store } from '../store/index.ts';
import { isQueryExpected } from './passages-for-reply.ts';
import {
	isCharged,
	missingForNextCall,
	reservedForCall,
	spenderOf,
	UsageLimitError,
	withMoreReserved,
	withReservation,
} from './reply-cost.ts';
import type { ReplyUsage, Turn } from './turn-state.ts';

export interface BudgetDependencies {
	store: Pick<Store, 'conversations' | 'get'>;
	budgets: Pick<Budgets, 'limitsOf' | 'report'>;
	models: Pick<Models, 'priceOf'>;
}

interface BegunTurn {
	commit: Commit;
	turn: Turn;
}

/** Adds to the commit of a turn what its reply may cost at most, where budgets limit it. */
export type Reserve = (begun: BegunTurn) => Promise<BegunTurn>;

/**
 * Starts a reply, or one of the built-in model if each budget that does not allow it falls back to that. A reply that costs nothing
 * reads no budgets. If a budget does not allow the call that writes a query for the search, the reply starts without it.
 * @param start with a model, and what reserves its price; throws UsageLimitError where a budget does not allow it
 * @throws UsageLimitError
 */
export async function withinBudget<T>(
	{ store, budgets, models }: BudgetDependencies,
	{ workspace_id, deployment_id, visitor_id, model }: Spender,
	now: number,
	start: (model: string, reserve: Reserve) => Promise<T>,
): Promise<T> {
	const spender = { workspace_id, deployment_id, visitor_id, model };
	const limits = isCharged(models.priceOf(model)) ? await budgets.limitsOf(spender, now) : [];
	let withQuery = false;
	const reserve: Reserve = async (begun) => {
		withQuery = limits.length > 0 && (await isQueryExpected(store, begun.turn));
		return withReservation(begun, limits, now, withQuery);
	};
	try {
		return await start(model, reserve).catch((error: unknown) => {
			if (!(error instanceof UsageLimitError) || !withQuery) throw error;
			return start(model, async (begun) => withReservation(begun, limits, now));
		});
	} catch (error) {
		if (!(error instanceof UsageLimitError)) throw error;
		const { exceeded } = error;
		void budgets.report(spender, now, { exceeded, reserved: 0 });
		const refuses = limits.some(
			({ dimension, budget }) => exceeded.includes(dimension) && budget.at_limit === 'refuse',
		);
		if (refuses) throw error;
		return start(BUILTIN_MODEL, async (begun) => begun);
	}
}

/**
 * Adds to a commit what another call of the model may cost, if it is more than what is left of the reservation. The budgets are those
 * of the day on which the reply began.
 */
export async function withNextCall(
	{ budgets }: Pick<BudgetDependencies, 'budgets'>,
	change: BegunTurn,
	used: ReplyUsage,
): Promise<BegunTurn> {
	return addToReservation(budgets, change, missingForNextCall(change.turn, used));
}

/**
 * Adds what a call of the model may cost to the commit that restarts an interrupted reply. What was reserved before stays for the call
 * that was cut off.
 */
export async function withRestartedCall(
	{ budgets }: Pick<BudgetDependencies, 'budgets'>,
	restarted: BegunTurn,
): Promise<BegunTurn> {
	return addToReservation(budgets, restarted, reservedForCall(restarted.turn));
}

async function addToReservation(
	budgets: BudgetDependencies['budgets'],
	change: BegunTurn,
	amount: number,
): Promise<BegunTurn> {
	const { turn } = change;
	if (amount === 0 || turn.billing.reserved === null) return change;
	return withMoreReserved(change, amount, await budgets.limitsOf(spenderOf(turn), turn.billing.reserved.day));
}
