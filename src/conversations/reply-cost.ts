import { AppError } from '../base/index.ts';
import type { Usage } from '../contract/index.ts';
import { costOf, type ModelPrice, tokensOf } from '../models/index.ts';
import {
	type Commit,
	dayOf,
	type MessageRecord,
	type Spender,
	type SpendingLimit,
	type Write,
} from '../store/index.ts';
import type { ReplyUsage, Turn } from './turn-state.ts';

/** What the end of a reply costs. */
export interface ReplyCharge {
	/** The cost of the reply, all its attempts together; null if it is not known. */
	cost: number | null;
	/** What this attempt adds to it. */
	added: number;
	/** Charges the accounts, and ends the reservation. Empty for a reply that costs nothing. */
	writes: Write[];
}

/**
 * What is reserved for the call that writes a query for the search. Its prompt has a few messages, and its answer is a line: the
 * other output tokens are for models that reason first.
 */
const QUERY_TOKENS: Usage = { input_tokens: 4_000, output_tokens: 1_024 };
const NO_TOKENS = { input_tokens: 0, output_tokens: 0 };

/** Whether replies of a model with this price are charged. */
export function isCharged(price: ModelPrice | null): price is ModelPrice {
	return price !== null && (price.input > 0 || price.output > 0);
}

/** The charge for the end of a reply, from the usage that the model has reported. */
export function chargeFor(turn: Turn, used: ReplyUsage): ReplyCharge {
	const { reply, billing } = turn;
	const added = addedCost(turn, used);
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

/**
 * A turn whose commit reserves what its reply may cost at most; the same turn where no budget limits it.
 * @param withQuery whether a model is also called for a query for the search
 */
export function withReservation(
	{ commit, turn }: { commit: Commit; turn: Turn },
	limits: readonly SpendingLimit[],
	now: number,
	withQuery = false,
): { commit: Commit; turn: Turn } {
	const { price } = turn.billing;
	if (price === null || limits.length === 0) return { commit, turn };
	const { reply, conversation } = turn;
	const amount = costOfCall(turn, price) + (withQuery ? costOfQuery(price) : 0);
	const reserve: Write = {
		...{ op: 'spending.reserve', message_id: reply.id, conversation_id: conversation.id, amount, day: dayOf(now) },
		spender: spenderOf(turn),
		limits: limits.map(limitOf),
	};
	return {
		commit: { ...commit, write: [...(commit.write ?? []), reserve] },
		turn: { ...turn, billing: { price, reserved: { amount, day: dayOf(now) } } },
	};
}

/** What is reserved for each call of the model in a turn; 0 where nothing is reserved. */
export function reservedForCall(turn: Turn): number {
	const { price, reserved } = turn.billing;
	return isCharged(price) && reserved !== null ? costOfCall(turn, price) : 0;
}

/** What must be added to the reservation of a reply before the model is called again; 0 where nothing is reserved. */
export function missingForNextCall(turn: Turn, used: ReplyUsage): number {
	const { price, reserved } = turn.billing;
	if (!isCharged(price) || reserved === null) return 0;
	const needed = knownCost(turn, price, used) + unreportedCost(turn, price, used) + costOfCall(turn, price);
	return Math.max(needed - reserved.amount, 0);
}

/** A commit that also adds to the reservation of its turn's reply. */
export function withMoreReserved(
	{ commit, turn }: { commit: Commit; turn: Turn },
	amount: number,
	limits: readonly SpendingLimit[],
): { commit: Commit; turn: Turn } {
	const { billing, reply } = turn;
	if (billing.reserved === null || amount === 0) return { commit, turn };
	const extend: Write = { op: 'spending.extend', message_id: reply.id, amount, limits: limits.map(limitOf) };
	const reserved = { ...billing.reserved, amount: billing.reserved.amount + amount };
	return {
		commit: { ...commit, write: [...(commit.write ?? []), extend] },
		turn: { ...turn, billing: { ...billing, reserved } },
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
 * The cost of this attempt. A reply that failed has been charged for `reply.usage`. A call that has not reported its usage costs
 * what was reserved for it; without a reservation the cost is what is known, or null if nothing is.
 */
function addedCost(turn: Turn, used: ReplyUsage): number | null {
	const { price, reserved } = turn.billing;
	if (price === null) return reserved?.amount ?? null;
	if (!isCharged(price)) return 0;
	const known = knownCost(turn, price, used);
	if (used.unreportedCalls.length + lostCalls(turn) === 0) return known;
	if (reserved === null) return known || null;
	return Math.max(known, Math.min(known + unreportedCost(turn, price, used), reserved.amount));
}

function knownCost({ reply }: Turn, price: ModelPrice, { usage }: ReplyUsage): number {
	return Math.max(costOf(price, usage ?? NO_TOKENS) - costOf(price, reply.usage ?? NO_TOKENS), 0);
}

/** What calls without a report may have cost: by their prompt and their text where these are known. */
function unreportedCost(turn: Turn, price: ModelPrice, { unreportedCalls }: ReplyUsage): number {
	const ofCall = costOfCall(turn, price);
	const costs = unreportedCalls.map((usage) => (usage === null ? ofCall : Math.min(costOf(price, usage), ofCall)));
	// Of a call that a crash has cut off, nothing is known.
	const isCutOff = lostCalls(turn) > 0 || unreportedCalls.includes(null);
	const ofLostQuery = isCutOff && turn.rounds.length === 0 && reservesQuery(turn) ? costOfQuery(price) : 0;
	return costs.reduce((sum, cost) => sum + cost, 0) + lostCalls(turn) * ofCall + ofLostQuery;
}

/** Calls that a crash has cut off: they report nothing any more. */
function lostCalls({ reply }: Turn): number {
	return Math.max(reply.attempts - 1, 0);
}

/** The tokens that are reserved for each call of the model in a turn; undefined where none are. */
export function reservedTokensOf({ question, billing: { price, reserved } }: Turn): Usage | undefined {
	return reserved === null || price === null ? undefined : tokensOfCall(price, question);
}

/**
 * Whether a model may be called for a query for the search: no budget limits the reply, or the price of the query is reserved, and was
 * not used by a call that a crash has cut off.
 */
export function mayCallForQuery(turn: Turn): boolean {
	return turn.billing.reserved === null || (lostCalls(turn) === 0 && reservesQuery(turn));
}

/** The tokens that are reserved for the call that writes a query; undefined where none are. */
export function queryTokensOf({ billing: { price, reserved } }: Turn): Usage | undefined {
	return reserved === null || price === null ? undefined : tokensOfQuery(price);
}

/** Whether the reservation of a reply without rounds has the price of a query, beside that of each attempt's call. */
function reservesQuery(turn: Turn): boolean {
	const { price, reserved } = turn.billing;
	if (reserved === null || price === null) return false;
	return reserved.amount >= (1 + lostCalls(turn)) * costOfCall(turn, price) + costOfQuery(price);
}

function costOfQuery(price: ModelPrice): number {
	const tokens = tokensOfQuery(price);
	return tokens === undefined ? price.reserved_micros : costOf(price, tokens);
}

function tokensOfQuery({ reserved_tokens }: ModelPrice): Usage | undefined {
	if (reserved_tokens === undefined) return undefined;
	const { context_tokens, output_tokens } = reserved_tokens;
	return {
		input_tokens: Math.min(QUERY_TOKENS.input_tokens, context_tokens),
		output_tokens: Math.min(QUERY_TOKENS.output_tokens, output_tokens),
	};
}

/** What one call of the model costs at most. */
function costOfCall({ question }: Turn, price: ModelPrice): number {
	const tokens = tokensOfCall(price, question);
	return tokens === undefined ? price.reserved_micros : costOf(price, tokens);
}

function tokensOfCall({ reserved_tokens }: ModelPrice, { content }: MessageRecord): Usage | undefined {
	if (reserved_tokens === undefined) return undefined;
	const { input_tokens, output_tokens, context_tokens } = reserved_tokens;
	return { input_tokens: Math.min(input_tokens + tokensOf(content), context_tokens), output_tokens };
}

function limitOf({ dimension, amount, from, to }: SpendingLimit): SpendingLimit {
	return { dimension, amount, from, to };
}
