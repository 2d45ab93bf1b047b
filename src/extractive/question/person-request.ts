import { analyse } from '../../text/index.ts';
import type { SpokenLanguage } from '../spoken-language.ts';
import { courtesyOf, leadingWishForPerson } from './small-talk.ts';

/** A message that asks for a person. */
export interface PersonRequest {
	/** The language of the request. */
	language: SpokenLanguage;
	/** Whether the message asks nothing else. */
	isOnlyRequest: boolean;
}

/** Longer messages are quoted texts more often than requests. */
const MAX_MESSAGE_CHARS = 2_000;
/** `No, let me talk to a human`: an opening of at most this many words before a comma is ignored. */
const MAX_OPENING_WORDS = 2;
const CLAUSE = /[^.!?;\n。！？؟]+[.!?;\n。！？؟]*/g;
const OPENING = /^\s*([^,،、]{1,30})[,،、]/;
const QUESTION_MARK = /[?？؟]\s*$/;

/** Words with which a request goes on: `can I talk to someone about my order`. */
const CONTINUATIONS: Record<SpokenLanguage, readonly string[]> = {
	en: ['about', 'regarding', 'concerning', 'because', 'who', 'instead'],
	de: ['uber', 'wegen', 'bezuglich', 'zu', 'weil'],
	fr: ['a', 'au', 'de', 'concernant', 'pour', 'car'],
	es: ['sobre', 'acerca', 'de', 'porque', 'para'],
	nl: ['over', 'omdat', 'vanwege'],
	pt: ['sobre', 'acerca', 'porque', 'para'],
	it: ['di', 'su', 'riguardo', 'per', 'perche'],
	ja: [],
	ar: [],
};
/** Shorter phrases, such as `real person`, begin other sentences too. */
const MIN_CONTINUED_WORDS = 4;

/** The request for a person in a message, by a list of phrases for each language; null if it has none. */
export function personRequestIn(message: string): PersonRequest | null {
	if (message.length > MAX_MESSAGE_CHARS) return null;
	let language: SpokenLanguage | null = null;
	let asksMore = false;
	for (const clause of message.match(CLAUSE) ?? []) {
		const requested = requestIn(clause) ?? requestIn(withoutOpening(clause));
		if (requested) language ??= requested;
		else if (QUESTION_MARK.test(clause) && courtesyOf(clause) === null) asksMore = true;
	}
	return language === null ? null : { language, isOnlyRequest: !asksMore };
}

function requestIn(clause: string): SpokenLanguage | null {
	const courtesy = courtesyOf(clause);
	if (courtesy?.kind === 'human') return courtesy.language;
	const wish = leadingWishForPerson(analyse(clause, null));
	if (wish === null || wish.phraseWords < MIN_CONTINUED_WORDS) return null;
	return CONTINUATIONS[wish.language].includes(wish.nextWord) ? wish.language : null;
}

function withoutOpening(clause: string): string {
	const [opening, words] = OPENING.exec(clause) ?? [];
	if (opening === undefined || words === undefined || analyse(words, null).length > MAX_OPENING_WORDS) return clause;
	return clause.slice(opening.length);
}
