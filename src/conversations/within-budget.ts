import type { BudgetLimit, Budgets } from '../costs/index.ts';
import { BUILTIN_MODEL, type Models } from '../models/index.ts';
import type { Spender } from '../store/index.ts';
import { isCharged, UsageLimitError } from './reply-cost.ts';

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
		void budgets.report(spender, exceeded);
		const refuses = limits.some(
			({ dimension, budget }) => exceeded.includes(dimension) && budget.at_limit === 'refuse',
		);
		if (refuses) throw error;
		return start(BUILTIN_MODEL, []);
	}
}
