import type { BudgetLimit, Budgets } from '../costs/index.ts';
import { BUILTIN_MODEL, type Models } from '../models/index.ts';
import type { Commit, Spender } from '../store/index.ts';
import { isCharged, missingForNextCall, spenderOf, UsageLimitError, withMoreReserved } from './reply-cost.ts';
import type { ReplyUsage, Turn } from './turn-state.ts';

export interface BudgetDependencies {
	budgets: Pick<Budgets, 'limitsOf' | 'report'>;
	models: Pick<Models, 'priceOf'>;
}

/**
 * Starts a reply, or one of the built-in model if each budget that does not allow it falls back to that. A reply that costs nothing
 * reads no budgets.
 * @param start with a model and the budgets that limit it; throws UsageLimitError where they do not allow it
 * @throws UsageLimitError
 */
export async function withinBudget<T>(
	{ budgets, models }: BudgetDependencies,
	{ workspace_id, deployment_id, visitor_id, model }: Spender,
	now: number,
	start: (model: string, limits: readonly BudgetLimit[]) => Promise<T>,
): Promise<T> {
	const spender = { workspace_id, deployment_id, visitor_id, model };
	const limits = isCharged(models.priceOf(model)) ? await budgets.limitsOf(spender, now) : [];
	try {
		return await start(model, limits);
	} catch (error) {
		if (!(error instanceof UsageLimitError)) throw error;
		const { exceeded } = error;
		void budgets.report(spender, now, { exceeded, reserved: 0 });
		const refuses = limits.some(
			({ dimension, budget }) => exceeded.includes(dimension) && budget.at_limit === 'refuse',
		);
		if (refuses) throw error;
		return start(BUILTIN_MODEL, []);
	}
}

/**
 * Adds to a commit what another call of the model may cost, if it is more than what is left of the reservation. The budgets are those
 * of the day on which the reply began.
 */
export async function withNextCall(
	{ budgets }: Pick<BudgetDependencies, 'budgets'>,
	change: { commit: Commit; turn: Turn },
	used: ReplyUsage,
): Promise<{ commit: Commit; turn: Turn }> {
	const { turn } = change;
	const missing = missingForNextCall(turn, used);
	if (missing === 0 || turn.billing.reserved === null) return change;
	return withMoreReserved(change, missing, await budgets.limitsOf(spenderOf(turn), turn.billing.reserved.day));
}
