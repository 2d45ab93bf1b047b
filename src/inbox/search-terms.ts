import type { SearchTerm } from '../store/index.ts';

const MAX_TERMS = 10;
/** A phrase in quotes, or a run of other characters. A missing closing quote ends with the text. */
const TERMS = /"([^"]*)"?|([^\s"]+)/g;

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
