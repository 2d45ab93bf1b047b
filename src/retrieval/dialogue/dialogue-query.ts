import { type QueryWord, queryWords } from '../../text/index.ts';
import type { SearchQuery } from '../ranking/index.ts';
import { contextDependence } from './context-dependence.ts';

/** A message with the messages before it. */
export interface Dialogue {
	message: string;
	/** Earlier messages, oldest first. */
	earlier: ReadonlyArray<{ role: 'user' | 'assistant'; content: string }>;
}

/** What a message depends on. Plain data, which is passed to the search worker. */
export interface DialogueContext {
	/** The beginning of the question before. */
	question: string;
	/** The beginning of the reply to it; empty without one. */
	reply: string;
	/** How much the message depends on them, from above 0 to 1. */
	weight: number;
}

/** Earlier messages among which the question before is looked for. */
const MAX_EARLIER_MESSAGES = 8;

/** A longer message is read as a question that stands alone. */
const MAX_DEPENDENT_CHARS = 1_000;

/** Characters at the beginning of an earlier message that are read. */
const MAX_EXCERPT_CHARS = 1_000;
const MAX_QUESTION_WORDS = 40;
/** The beginning of a reply names its subject. More of it would find the passages of the reply again. */
const MAX_REPLY_WORDS = 20;

/** How often the words of the message count relative to each word of its context. */
const MESSAGE_REPEATS = 2;

/** The context of a message, which is decided once for a search; null if the message stands alone. */
export function dialogueContext({ message, earlier }: Dialogue): DialogueContext | null {
	if (message.length > MAX_DEPENDENT_CHARS) return null;
	const recent = earlier.slice(-MAX_EARLIER_MESSAGES);
	const last = recent.findLastIndex(({ role }) => role === 'user');
	if (last === -1) return null;
	const question = excerptOf(recent[last]?.content ?? '');
	const reply = excerptOf(recent.slice(last + 1).find(({ role }) => role === 'assistant')?.content ?? '');
	const weight = contextDependence(message, question);
	return weight === 0 ? null : { question, reply, weight };
}

/**
 * The words to search for. A message with a context comes with the words of the question before and of the beginning of the
 * reply to it.
 * @param languages of the documents (ISO 639-1), the most frequent first
 */
export function dialogueQuery(
	message: string,
	context: DialogueContext | null,
	languages: ReadonlyArray<string | null>,
): SearchQuery {
	const words = queryWords(message, languages);
	if (!context) return { words };
	const question = queryWords(context.question, languages).slice(0, MAX_QUESTION_WORDS);
	const reply = queryWords(context.reply, languages).slice(0, MAX_REPLY_WORDS);
	if (question.length + reply.length === 0) return { words };
	const repeated: QueryWord[] = Array.from({ length: MESSAGE_REPEATS }, () => words).flat();
	return {
		words,
		context: {
			words: [...repeated, ...question, ...reply],
			asked: [...words, ...question],
			weight: context.weight,
		},
	};
}

/** The message after the question before, for an embedder that reads text. */
export function textInContext(message: string, { question }: DialogueContext): string {
	return `${question}\n${message}`;
}

function excerptOf(text: string): string {
	const excerpt = text.slice(0, MAX_EXCERPT_CHARS);
	// Half of a surrogate pair has no UTF-8 form.
	return /[\ud800-\udbff]$/.test(excerpt) && excerpt.length < text.length ? excerpt.slice(0, -1) : excerpt;
}
