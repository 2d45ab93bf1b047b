export { type BudgetLimit, Budgets, type BudgetsOptions } from './budgets.ts';
export { Costs, type CostsOptions } from './costs.ts';
