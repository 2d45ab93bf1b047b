import type { Usage } from '../contract/index.ts';
import type { ModelPrice } from '../models/index.ts';
import type { ConversationRecord, MessageRecord, Reserved } from '../store/index.ts';
import type { ReplyRound } from './reply-rounds.ts';

/** What a reply is charged by. */
export interface Billing {
	/** Of the model that answers; null if it is not known. */
	price: ModelPrice | null;
	/** What is reserved for the reply; null where no budget limits it. */
	reserved: Reserved | null;
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

/** What the calls of the model in a reply have used so far. */
export type ReplyUsage = Pick<MessageRecord, 'usage'> & {
	/** Calls that cost something and have not reported what they used: the most that each may have used, or null if that is not known. */
	unreportedCalls: readonly (Usage | null)[];
};

/** How the reply to a turn ended. */
export type ReplyOutcome = Pick<
	MessageRecord,
	'content' | 'status' | 'citations' | 'tool_calls' | 'error' | 'answered_by' | 'first_token_ms' | 'duration_ms'
> &
	ReplyUsage;
