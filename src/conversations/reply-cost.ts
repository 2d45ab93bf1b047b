import { AppError } from '../base/index.ts';
import { costOf, type ModelPrice } from '../models/index.ts';
import {
	type Commit,
	dayOf,
	type MessageRecord,
	type Spender,
	type SpendingLimit,
	type Write,
} from '../store/index.ts';
import type { ReplyOutcome, Turn } from './turn-state.ts';

/** What the end of a reply costs. */
export interface ReplyCharge {
	/** The cost of the reply, all its attempts together; null if it is not known. */
	cost: number | null;
	/** What this attempt adds to it. */
	added: number;
	/** Charges the accounts, and ends the reservation. Empty for a reply that costs nothing. */
	writes: Write[];
}

const NO_TOKENS = { input_tokens: 0, output_tokens: 0 };

/** Whether replies of a model with this price are charged. */
export function isCharged(price: ModelPrice | null): price is ModelPrice {
	return price !== null && (price.input > 0 || price.output > 0);
}

/** The charge for the end of a reply, from the usage that the model has reported. */
export function chargeFor(turn: Turn, outcome: Pick<ReplyOutcome, 'usage' | 'isUsageComplete'>): ReplyCharge {
	const { reply, billing } = turn;
	const added = addedCost(turn, outcome);
	const cost = added === null ? reply.cost_micros : (reply.cost_micros ?? 0) + added;
	const isSpending = billing.reserved !== null || (added ?? 0) > 0;
	const unreserved = { spender: spenderOf(turn), day: dayOf(reply.created_at) };
	return {
		cost,
		added: added ?? 0,
		writes: isSpending
			? [
					{
						...{ op: 'spending.settle', message_id: reply.id, cost: added ?? 0 },
						...(billing.reserved === null ? { unreserved } : {}),
					},
				]
			: [],
	};
}

/** A turn whose commit reserves what its reply may cost at most; the same turn where no budget limits it. */
export function withReservation(
	{ commit, turn }: { commit: Commit; turn: Turn },
	limits: readonly SpendingLimit[],
	now: number,
): { commit: Commit; turn: Turn } {
	const { price } = turn.billing;
	if (price === null || limits.length === 0) return { commit, turn };
	const { reply, conversation } = turn;
	const amount = price.reserved_micros;
	const reserve: Write = {
		...{ op: 'spending.reserve', message_id: reply.id, conversation_id: conversation.id, amount, day: dayOf(now) },
		spender: spenderOf(turn),
		limits: limits.map(({ dimension, amount, from, to }) => ({ dimension, amount, from, to })),
	};
	return {
		commit: { ...commit, write: [...(commit.write ?? []), reserve] },
		turn: { ...turn, billing: { price, reserved: amount } },
	};
}

/** A budget does not allow the reply. */
export class UsageLimitError extends AppError {
	readonly exceeded: readonly SpendingLimit['dimension'][];

	constructor(exceeded: readonly SpendingLimit['dimension'][]) {
		const whose = exceeded.map((dimension) => `the ${dimension}`).join(' and ');
		super('usage_limit_reached', `The budget of ${whose} has not enough left for a reply in this period.`);
		this.exceeded = exceeded;
	}
}

/** Whose accounts a turn is charged to. */
export function spenderOf({
	conversation,
	reply,
}: {
	conversation: Turn['conversation'];
	reply: MessageRecord;
}): Spender {
	const { workspace_id, deployment_id, visitor_id } = conversation;
	return { workspace_id, deployment_id, visitor_id, model: reply.model as string };
}

/**
 * The cost of this attempt. A reply that failed has been charged for `reply.usage`. If a call has not reported its usage, the
 * attempt costs what was reserved; without a reservation, what is known of it, or null if nothing is.
 */
function addedCost(
	{ reply, billing: { price, reserved } }: Turn,
	{ usage, isUsageComplete }: Parameters<typeof chargeFor>[1],
) {
	if (price === null) return reserved;
	if (!isCharged(price)) return 0;
	const known = Math.max(costOf(price, usage ?? NO_TOKENS) - costOf(price, reply.usage ?? NO_TOKENS), 0);
	// The call that a crash has cut off reports nothing any more.
	const isComplete = isUsageComplete && reply.attempts < 2;
	if (isComplete) return known;
	return reserved === null ? known || null : Math.max(known, reserved);
}
