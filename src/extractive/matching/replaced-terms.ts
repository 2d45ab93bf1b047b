import type { QuestionTerm } from '../question/question.ts';
import type { Terms } from '../reading/passage-reading.ts';
import { bestMatch, type TermMatch } from './match-terms.ts';
import type { Source } from './source.ts';

/** A match of a whole word, a synonym or a part of a compound. */
const SURE_MATCH = 0.75;

/**
 * For each term whether a new one stands in its place: both name a row of one table, a column of it, a key, or a group of keys.
 * `Studio monthly?` → `And Firm?` asks for the monthly price of Firm.
 */
export function replacedTerms(
	terms: readonly QuestionTerm[],
	matches: readonly TermMatch[],
	sources: readonly Source[],
): boolean[] {
	const none = terms.map(() => false);
	if (!terms.some(({ isCarriedOver }) => isCarriedOver)) return none;
	const replaced = none;
	for (const axis of axesOf(sources)) {
		const isNamed = matches.map((match) => axis.some((name) => bestMatch(match, name) >= SURE_MATCH));
		if (!terms.some(({ isCarriedOver }, i) => !isCarriedOver && isNamed[i])) continue;
		terms.forEach(({ isCarriedOver }, i) => {
			if (isCarriedOver && isNamed[i]) replaced[i] = true;
		});
	}
	return replaced;
}

/** The names that stand beside each other: of the rows and columns of each table, of keys, and of their groups. */
function axesOf(sources: readonly Source[]): Terms[][] {
	const axes: Terms[][] = [];
	const groups = new Map<string, Terms[]>();
	for (const { passage, reading } of sources) {
		for (const { header, rows, labelColumns } of reading.tables) {
			axes.push((header ?? []).slice(labelColumns).map(({ terms }) => terms));
			for (let column = 0; column < labelColumns; column++)
				axes.push(rows.map((row) => row[column]?.terms ?? new Set()));
		}
		const pairs = reading.units.filter(({ kind, isListed }) => kind === 'pair' && !isListed);
		axes.push(pairs.map(({ labelTerms }) => labelTerms));
		const names = groups.get(passage.document_id) ?? [];
		names.push(...new Set(pairs.filter(({ isQuestion }) => !isQuestion).map(({ topicTerms }) => topicTerms)));
		groups.set(passage.document_id, names);
	}
	return [...axes, ...groups.values()];
}
