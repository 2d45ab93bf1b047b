import { separateCharacters } from '../base/index.ts';

const MAX_TERMS = 10;
/** Characters that have a meaning within a quoted term; NUL would end the expression. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is meant.
const SPECIAL = /["\u0000]/g;
/** A phrase in quotes, or a run of other characters. A missing closing quote ends with the text. */
const TERMS = /"([^"]*)"?|([^\s"]+)/g;

/** One word, or several that follow each other. */
export interface SearchTerm {
	text: string;
	/** Whether longer words that begin with it match too. */
	isPrefix: boolean;
}

/** The words and phrases of a search. The last word may be a beginning, unless a space or a quote follows it. */
export function searchTerms(query: string): SearchTerm[] {
	const terms = [...query.matchAll(TERMS)].map(([, phrase, word]) => ({
		text: (phrase ?? word ?? '').trim(),
		isPrefix: false,
	}));
	const last = terms.at(-1);
	if (last && /[^\s"]$/.test(query) && query.split('"').length % 2 === 1) last.isPrefix = true;
	return terms.filter(({ text }) => /[\p{L}\p{N}]/u.test(text)).slice(0, MAX_TERMS);
}

/** The terms in the language of the full-text index. */
export function searchExpression(terms: readonly SearchTerm[]): string {
	return terms
		.map(({ text, isPrefix }) => `"${separateCharacters(text.replaceAll(SPECIAL, ' '))}"${isPrefix ? ' *' : ''}`)
		.join(' AND ');
}
