export {
	applySpendingWrite,
	eraseOldSpending,
	eraseSpendingOfVisitor,
	hasConversation,
	hasOldSpending,
	settleErasedConversation,
} from './write.ts';
