export { SPENDING_SCHEMA } from './schema.ts';
export {
	applySpendingWrite,
	eraseOldSpending,
	eraseSpendingOfVisitor,
	hasOldSpending,
	OverBudgetError,
	settleErasedConversation,
} from './write.ts';
