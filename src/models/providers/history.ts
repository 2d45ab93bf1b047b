import type { ChatTurn } from '../chat-model.ts';

/** A question with its reply: what is kept or dropped together. */
export interface Exchange {
	question: string;
	/** Null where none was stored. */
	reply: string | null;
}

/** A conversation as questions with their replies. What stands before the first question has lost its own and is left out. */
export function exchangesOf(history: readonly ChatTurn[]): Exchange[] {
	const exchanges: Exchange[] = [];
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
 * @param room tokens that there are for all
 */
export function newestThatFit(
	exchanges: readonly Exchange[],
	cost: (exchange: Exchange) => number,
	room: number,
): Exchange[] {
	let left = room;
	let first = exchanges.length;
	while (first > 0) {
		left -= cost(exchanges[first - 1] as Exchange);
		if (left < 0) break;
		first--;
	}
	return exchanges.slice(first);
}
