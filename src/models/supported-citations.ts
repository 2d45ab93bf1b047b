import { analyse, detectLanguage, queryTerms } from '../text/index.ts';
import type { Passage } from './chat-model.ts';
import { type CitationMark, citationMarks, citedIndexes } from './citations.ts';

type Source = Pick<Passage, 'index' | 'title' | 'heading_path' | 'text'>;

/** A statement with fewer words is judged with the sentences before it, and alone is too short to be judged. */
const MIN_TERMS = 3;
/** Statements that are compared with a passage. Further citations of an answer count unchecked. */
const MAX_CHECKED = 200;
const BOUNDARY = /(?<=[.!?。！？])\s+|\n/u;

/**
 * The source numbers that an answer cites, in order of first appearance. Left out are numbers without a passage, which a model
 * may invent, and passages that share no word or number with any statement that cites them. Words are compared only where the
 * answer and the passage are in the same language.
 */
export function supportedCitations(text: string, passages: readonly Source[]): number[] {
	const indexes = citedIndexes(text, passages);
	if (indexes.length === 0) return indexes;
	const language = detectLanguage(text);
	if (language === null) return indexes;
	const sources = new Map(passages.map((passage) => [passage.index, passage]));
	const terms = new Map<number, ReadonlySet<string> | null>();
	const termsOf = (source: Source) => {
		let known = terms.get(source.index);
		if (known === undefined) {
			known = comparableTerms(source, language);
			terms.set(source.index, known);
		}
		return known;
	};
	const cited = new Map<number, boolean>();
	let checked = 0;
	for (const mark of citationMarks(text)) {
		const source = sources.get(mark.index);
		if (source === undefined || cited.get(mark.index) === true) continue;
		cited.set(mark.index, checked++ >= MAX_CHECKED || isSupported(mark, termsOf(source), language));
	}
	return [...cited].filter(([, supported]) => supported).map(([index]) => index);
}

/** The words of a passage, stemmed; null if its language is not the answer's. */
function comparableTerms({ title, heading_path, text }: Source, language: string): Set<string> | null {
	if (detectLanguage(text) !== language) return null;
	return new Set(analyse([title, ...heading_path, text].join('\n'), language));
}

function isSupported({ before }: CitationMark, terms: ReadonlySet<string> | null, language: string): boolean {
	if (terms === null) return true;
	const sentences = before().trimEnd().split(BOUNDARY);
	let statement: string[] = [];
	while (statement.length < MIN_TERMS && sentences.length > 0) {
		statement = [...queryTerms(sentences.pop() as string, language), ...statement];
	}
	return statement.length < MIN_TERMS || statement.some((term) => terms.has(term));
}
