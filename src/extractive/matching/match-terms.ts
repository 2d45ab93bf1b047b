import type { SpellingVariants } from '../../text/index.ts';
import { dayTermsIn, isCalendarTerm } from '../calendar/calendar-terms.ts';
import { functionWords } from '../question/function-words.ts';
import type { QuestionTerm } from '../question/question.ts';
import { synonymsIn } from '../question/synonyms.ts';

/** The shortest words that are compared by their parts and with typos. */
const MIN_PART_LENGTH = 4;
const MIN_TYPO_LENGTH = 5;

const SYNONYM_SCORE = 0.75;
const PART_SCORE = 0.6;
/** A word that is joined from the term and another one, in languages that join words: `Gruppen`, `Gruppenpreis`. */
const COMPOUND_SCORE = 0.75;
const TYPO_SCORE = 0.8;

/** A synonym of a large thesaurus, which has many for other meanings. */
const FALLBACK_SCORE = 0.6;
/** The long form of an acronym, or the reverse. */
const VARIANT_SCORE = 0.95;

/** What matches a term of the question. */
export interface TermMatch {
	/** Words of a vocabulary with how well they match, 0..1. */
	words: ReadonlyMap<string, number>;
	/** The words of long forms, which match together: `United Kingdom` for `UK`. */
	phrases: ReadonlyArray<readonly string[]>;
}

/**
 * For each term of the question, the words of a vocabulary that match it: the word itself; its synonyms; a word of which it is
 * the beginning, or the reverse (pay, payroll); in languages that join words also a word that ends with it (Jahresurlaub); and
 * for a term that the vocabulary lacks, a word with one typo. An acronym matches its long form, and the reverse.
 */
export function matchTerms(
	questionTerms: readonly QuestionTerm[],
	vocabulary: ReadonlySet<string>,
	language: string | null,
	variants: readonly SpellingVariants[],
	fallbacks: ReadonlyMap<string, ReadonlySet<string>>,
): TermMatch[] {
	const compounds = language === 'de' || language === 'nl';
	const synonyms = synonymsIn(language);
	// `over` does not match `overtime`.
	const meaningless = functionWords(language).ignored;
	const isKnown = (word: string) => vocabulary.has(word);
	const own = new Set(questionTerms.map(({ term }) => term));
	const asked = variants.flatMap(({ phrases }) => phrases).filter(({ terms }) => terms.every((term) => own.has(term)));
	return questionTerms.map(({ term, days }) => {
		if (days) return { words: new Map(dayTermsIn(days, vocabulary).map((day) => [day, 1])), phrases: [] };
		const matches = new Map<string, number>();
		if (term.length >= MIN_PART_LENGTH) {
			for (const word of vocabulary) {
				if (word !== term && !meaningless.has(word) && !isCalendarTerm(word) && sharesPart(term, word, compounds))
					matches.set(word, compounds ? COMPOUND_SCORE : PART_SCORE);
			}
		}
		for (const word of synonyms.get(term) ?? []) if (vocabulary.has(word)) matches.set(word, SYNONYM_SCORE);
		const forms = variants.flatMap(({ byTerm }) => byTerm.get(term) ?? []).filter((form) => form.every(isKnown));
		for (const form of forms) if (form.length === 1) matches.set(form[0] as string, VARIANT_SCORE);
		for (const { terms, short } of asked) if (isKnown(short) && terms.includes(term)) matches.set(short, VARIANT_SCORE);
		if (vocabulary.has(term)) matches.set(term, 1);
		const phrases = forms.filter(({ length }) => length > 1);
		if (matches.size === 0 && phrases.length === 0) {
			for (const word of fallbacks.get(term) ?? [])
				if (isKnown(word) && !meaningless.has(word)) matches.set(word, FALLBACK_SCORE);
		}
		if (matches.size === 0 && phrases.length === 0 && term.length >= MIN_TYPO_LENGTH) {
			for (const word of vocabulary) if (isTypo(term, word)) matches.set(word, TYPO_SCORE);
		}
		return { words: matches, phrases };
	});
}

/** How well the best of the words matches, 0..1. */
export function bestMatch(match: TermMatch, terms: ReadonlySet<string>): number {
	let best = 0;
	for (const [word, value] of match.words) if (value > best && terms.has(word)) best = value;
	if (best < VARIANT_SCORE && match.phrases.some((phrase) => phrase.every((word) => terms.has(word))))
		return VARIANT_SCORE;
	return best;
}

/** Whether anything matches. */
export function hasMatch({ words, phrases }: TermMatch): boolean {
	return words.size > 0 || phrases.length > 0;
}

/** How well a word of a name is matched, 0..1: by itself, or as a part of a long form that the name has. */
export function matchOfWord(match: TermMatch, word: string, name: ReadonlySet<string>): number {
	const isPart = match.phrases.some((phrase) => phrase.includes(word) && phrase.every((other) => name.has(other)));
	return Math.max(match.words.get(word) ?? 0, isPart ? VARIANT_SCORE : 0);
}

function sharesPart(a: string, b: string, compounds: boolean): boolean {
	const [short, long] = a.length < b.length ? [a, b] : [b, a];
	// Stems that share little more than a syllable do not match: `inter` and `international`.
	if (short.length < MIN_PART_LENGTH || short.length * (compounds ? 4 : 2) < long.length) return false;
	return long.startsWith(short) || (compounds && short.length > MIN_PART_LENGTH && long.endsWith(short));
}

/** Whether two words differ in one letter that is inserted, omitted, changed, or swapped with its neighbour. */
function isTypo(a: string, b: string): boolean {
	if (Math.abs(a.length - b.length) > 1 || b.length < MIN_TYPO_LENGTH - 1) return false;
	// A number is never a typo of another number.
	if (/\p{Nd}/u.test(a) || /\p{Nd}/u.test(b)) return false;
	let from = 0;
	while (from < a.length && a[from] === b[from]) from++;
	let aTo = a.length;
	let bTo = b.length;
	while (aTo > from && bTo > from && a[aTo - 1] === b[bTo - 1]) {
		aTo--;
		bTo--;
	}
	const left = aTo - from;
	const right = bTo - from;
	if (left <= 1 && right <= 1) return true;
	return left === 2 && right === 2 && a[from] === b[from + 1] && a[from + 1] === b[from];
}
