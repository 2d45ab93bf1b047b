import type { Usage } from '../contract/index.ts';
import type { Passage } from '../models/index.ts';
import { type ReplyRound, textOf } from './reply-rounds.ts';

/** What there is of a reply while it is written. */
export interface ReplyProgress {
	text: string;
	passages: readonly Passage[];
	/** The source numbers of those that its model was given, in any round. */
	shownIndexes: Set<number>;
	/** With calls that are under way. */
	rounds: ReplyRound[];
	usage: Usage | null;
}

/** Is told what happens to a reply while it is written. */
export interface ReplyListener {
	text(text: string): void;
	/** Calls are about to be carried out. Resolves once that is on disk; may never where the reply is given up. */
	round(round: ReplyRound): Promise<void>;
	/** What came of a call. */
	toolCall(call: ReplyRound['calls'][number]): void;
}

/** The beginning of a reply, or where it goes on from the rounds that there are of it. */
export function progressFrom(rounds: readonly ReplyRound[]): ReplyProgress {
	const passages = rounds[0]?.grounding?.passages ?? [];
	return {
		text: textOf(rounds),
		passages,
		shownIndexes: new Set(passages.map(({ index }) => index)),
		rounds: rounds.map((round) => ({ ...round, calls: [...round.calls] })),
		usage: rounds.at(-1)?.usage ?? null,
	};
}
