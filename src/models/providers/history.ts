import type { ChatMessage } from '../chat-model.ts';

/** A question with its reply. Both are kept, or neither. */
export interface QuestionAndAnswer {
	question: string;
	/** Null if none was stored. */
	reply: string | null;
}

/**
 * A conversation as questions with their replies. A reply before the first question has lost its question and is omitted.
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
 * The newest exchanges that fit, in order, whole and without a gap.
 * @param cost tokens of one exchange
 * @param maxTokens tokens for all of them
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
