import type { ModelPrice } from '../models/index.ts';
import type { ConversationRecord, MessageRecord } from '../store/index.ts';
import type { ReplyRound } from './reply-rounds.ts';

/** What a reply is charged by. */
export interface Billing {
	/** Of the model that answers; null if it is not known. */
	price: ModelPrice | null;
	/** Micros that are reserved for the reply; null where no budget limits it. */
	reserved: number | null;
}

/** A stored question and the reply that is being written to it. */
export interface Turn {
	conversation: ConversationRecord;
	question: MessageRecord;
	reply: MessageRecord;
	/** The rounds of the reply that are on disk. */
	rounds: readonly ReplyRound[];
	billing: Billing;
}

/** How the reply to a turn ended. */
export type ReplyOutcome = Pick<
	MessageRecord,
	| 'content'
	| 'status'
	| 'citations'
	| 'tool_calls'
	| 'usage'
	| 'error'
	| 'answered_by'
	| 'first_token_ms'
	| 'duration_ms'
> & {
	/** Whether each call of the model has reported its usage, or cost nothing. */
	isUsageComplete: boolean;
};
