import { type QueryWord, queryWords } from '../../text/index.ts';
import type { SearchQuery } from '../ranking/index.ts';
import { leaningOf } from './leaning.ts';
import { REFERENCE_LANGUAGES } from './reference-words.ts';

/** A message with the messages before it. */
export interface Dialogue {
	message: string;
	/** Earlier messages, oldest first. */
	earlier: ReadonlyArray<{ role: 'user' | 'assistant'; content: string }>;
}

/** Earlier messages that a search reads at most. */
const MAX_EARLIER_MESSAGES = 8;

/** A longer message is read as a question that stands alone. */
const MAX_LEANING_CHARS = 1_000;

/** Characters at the beginning of an earlier message that are read. */
const MAX_EXCERPT_CHARS = 1_000;
const MAX_QUESTION_WORDS = 40;
/** The beginning of a reply names its subject. More of it would find the passages of the reply again. */
const MAX_REPLY_WORDS = 20;

/** How often the words of the message count relative to each word of its context. */
const MESSAGE_REPEATS = 2;

/** The last messages of a conversation, shortened to what a search reads of them. */
export function recentMessages(messages: Dialogue['earlier']): Dialogue['earlier'] {
	return messages
		.slice(-MAX_EARLIER_MESSAGES)
		.map(({ role, content }) => ({ role, content: content.slice(0, MAX_EXCERPT_CHARS) }));
}

/**
 * The words to search for. A message that leans on earlier messages comes with its context: the question before and the
 * beginning of the reply to it.
 * @param languages of the documents (ISO 639-1), the most frequent first
 */
export function dialogueQuery(dialogue: Dialogue, languages: ReadonlyArray<string | null>): SearchQuery {
	const words = queryWords(dialogue.message, languages);
	const leaning = dialogueLeaning(dialogue, languages);
	const previous = leaning === 0 ? undefined : previousTurn(dialogue);
	if (!previous) return { words };
	const question = excerptWords(previous.question, languages).slice(0, MAX_QUESTION_WORDS);
	const reply = excerptWords(previous.reply, languages).slice(0, MAX_REPLY_WORDS);
	if (question.length + reply.length === 0) return { words };
	const repeated = Array.from({ length: MESSAGE_REPEATS }, () => words).flat();
	return {
		words,
		context: { words: [...repeated, ...question, ...reply], asked: [...words, ...question], weight: leaning },
	};
}

/** The message after the question before, for an embedder that reads text; null if the message stands alone. */
export function dialogueText(dialogue: Dialogue): string | null {
	const isLeaning = dialogueLeaning(dialogue, [...REFERENCE_LANGUAGES, null]) > 0;
	const previous = isLeaning ? previousTurn(dialogue) : undefined;
	return previous ? `${previous.question.slice(0, MAX_EXCERPT_CHARS)}\n${dialogue.message}` : null;
}

function dialogueLeaning({ message, earlier }: Dialogue, languages: ReadonlyArray<string | null>): number {
	return earlier.length === 0 || message.length > MAX_LEANING_CHARS ? 0 : leaningOf(message, languages);
}

/** The last question and the reply to it; undefined if there are only replies. */
function previousTurn({ earlier }: Dialogue): { question: string; reply: string } | undefined {
	const last = earlier.findLastIndex(({ role }) => role === 'user');
	const question = earlier[last];
	if (!question) return undefined;
	return {
		question: question.content,
		reply: earlier.slice(last + 1).find(({ role }) => role === 'assistant')?.content ?? '',
	};
}

function excerptWords(text: string, languages: ReadonlyArray<string | null>): QueryWord[] {
	return queryWords(text.slice(0, MAX_EXCERPT_CHARS), languages);
}
