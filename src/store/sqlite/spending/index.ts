export { SPENDING_SCHEMA } from './schema.ts';
export {
	applySpendingWrite,
	eraseOldSpending,
	eraseSpendingOfVisitor,
	hasConversation,
	hasOldSpending,
	OverBudgetError,
	settleErasedConversation,
} from './write.ts';
