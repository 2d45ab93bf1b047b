import type { Usage } from '../contract/index.ts';
import type { Passage } from '../models/index.ts';
import { type ReplyRound, textOf } from './reply-rounds.ts';
import type { ReplyTimer } from './reply-timer.ts';
import type { ReplyUsage } from './turn-state.ts';

/** The most tokens of a character of prose, in most scripts. */
const TOKENS_OF_CHARACTER = 1;
/** Tokens that a provider may have written before it noticed the abort. */
const UNSEEN_TOKENS = 100;

/** A call that has not reported its usage. */
export interface UnreportedCall {
	/** The most tokens of its prompt; null if the model does not say. */
	promptTokens: number | null;
	/** Characters that it has answered so far. */
	answeredCharacters: number;
}

/** The state of a reply while it is written. */
export interface ReplyProgress {
	text: string;
	passages: readonly Passage[];
	/** The numbers of the passages that the model was given, in any round. */
	shownIndexes: Set<number>;
	/** With the calls that are running. */
	rounds: ReplyRound[];
	usage: Usage | null;
	/** Calls of the model that have not reported their usage: a running call, calls that broke off, and requests that got no answer. */
	unreportedCalls: UnreportedCall[];
	/** Whether the knowledge bases must have the answer: without a citation the question is unanswered. */
	needsCitation: boolean;
	/** The search for passages has failed: an answer may exist. */
	searchFailed: boolean;
	/** The model said that the passages have no answer. */
	isRefused: boolean;
	/** Null for a reply that is not written any more. */
	timer: ReplyTimer | null;
}

/** Gets the events of a reply while it is written. */
export interface ReplyListener {
	text(text: string): void;
	/**
	 * Calls are about to be made, and then the model is asked again. Resolves once the round is on disk; never, if the reply is
	 * abandoned. Rejects with `usage_limit_reached` if a budget does not allow it: then the round is not stored.
	 */
	round(round: ReplyRound, used: ReplyUsage): Promise<void>;
	/** The model is about to be asked again without a round. Ends like `round`. */
	anotherCall(used: ReplyUsage): Promise<void>;
	/** A call has ended. */
	toolCall(call: ReplyRound['calls'][number]): void;
}

/** The initial state of a reply, which may have rounds from before an interruption. */
export function progressFrom(rounds: readonly ReplyRound[], timer: ReplyTimer | null = null): ReplyProgress {
	const passages = rounds[0]?.grounding?.passages ?? [];
	return {
		text: textOf(rounds),
		passages,
		shownIndexes: new Set(passages.map(({ index }) => index)),
		rounds: rounds.map((round) => ({ ...round, calls: [...round.calls] })),
		usage: rounds.at(-1)?.usage ?? null,
		unreportedCalls: [],
		needsCitation: false,
		searchFailed: false,
		isRefused: false,
		timer,
	};
}

/** What a reply has used so far. */
export function usageOf({ usage, unreportedCalls }: ReplyProgress): ReplyUsage {
	return { usage, unreportedCalls: unreportedCalls.map(mostOf) };
}

function mostOf({ promptTokens, answeredCharacters }: UnreportedCall): Usage | null {
	if (promptTokens === null) return null;
	return {
		input_tokens: promptTokens,
		output_tokens: Math.ceil(answeredCharacters * TOKENS_OF_CHARACTER) + UNSEEN_TOKENS,
	};
}
