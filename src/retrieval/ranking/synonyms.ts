import { analyse, type QueryWord } from '../../text/index.ts';
import type { SearchQuery } from './search-generation.ts';

/** A query whose words have the synonyms of a thesaurus, as terms in the languages of the documents. */
export function withSynonyms(
	query: SearchQuery,
	synonyms: ReadonlyArray<{ word: string; synonyms: readonly string[] }>,
	languages: ReadonlyArray<string | null>,
): SearchQuery {
	const terms = new Map<string, Set<string>>();
	for (const language of new Set(languages)) {
		for (const { word, synonyms: others } of synonyms) {
			const [term] = analyse(word, language);
			if (term === undefined) continue;
			const found = terms.get(term) ?? new Set();
			for (const other of analyse(others.join(' '), language)) found.add(other);
			terms.set(term, found);
		}
	}
	const add = (words: readonly QueryWord[]): QueryWord[] =>
		words.map((word) => {
			const found = word.stems.flatMap((stem) => [...(terms.get(stem) ?? [])]);
			return found.length === 0 ? word : { ...word, synonyms: found };
		});
	const { words, context } = query;
	return {
		words: add(words),
		context: context && { ...context, words: add(context.words), asked: add(context.asked) },
	};
}
