import type { ChatMessage } from '../chat-model.ts';

/** A question with its reply: what is kept or dropped together. */
export interface QuestionAndAnswer {
	question: string;
	/** Null where none was stored. */
	reply: string | null;
}

/**
 * A conversation as questions with their replies. What stands before the first question has lost its own and is left out.
 */
export function pairMessages(history: readonly ChatMessage[]): QuestionAndAnswer[] {
	const exchanges: QuestionAndAnswer[] = [];
	for (const { role, content } of history) {
		const last = exchanges.at(-1);
		if (role === 'user') exchanges.push({ question: content, reply: null });
		else if (last) last.reply = last.reply === null ? content : `${last.reply}\n\n${content}`;
	}
	return exchanges;
}

/**
 * The newest exchanges that fit, in order: whole ones, without a gap.
 * @param cost tokens of one exchange
 * @param maxTokens tokens that there are for all
 */
export function newestThatFit(
	pairs: readonly QuestionAndAnswer[],
	cost: (exchange: QuestionAndAnswer) => number,
	maxTokens: number,
): QuestionAndAnswer[] {
	let remaining = maxTokens;
	let first = pairs.length;
	while (first > 0) {
		remaining -= cost(pairs[first - 1] as QuestionAndAnswer);
		if (remaining < 0) break;
		first--;
	}
	return pairs.slice(first);
}
