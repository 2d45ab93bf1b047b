import type { QueryWord } from '../../text/index.ts';
import { type Basis, inverseFrequency } from '../semantic/index.ts';
import type { SpellingCorrector } from './spelling-corrector.ts';

/** The terms of a knowledge base. */
export interface Vocabulary {
	/** Null before the first training. */
	basis: Basis | null;
	/** Null if there is no vocabulary. */
	spelling: Pick<SpellingCorrector, 'nearest'> | null;
	/** The number of chunks. */
	chunks: number;
	/** The number of chunks that have a term. */
	chunksWith(term: string): number;
}

/** A distinct word of the question. */
export interface ResolvedWord {
	/** Its terms in the knowledge base; none if it is unknown. */
	terms: string[];
	/** The long forms of an acronym in the knowledge base. All words of one stand for it. */
	longForms?: ReadonlyArray<readonly string[]>;
	/** Its weight: the inverse document frequency of its most frequent term. */
	weight: number;
	/** 1, or less if a similar known word replaces an unknown one. Only the coverage counts it: a correction costs confidence once. */
	reliability: number;
}

/** A question in the terms of a knowledge base. */
export interface AnalysedQuery {
	/** For full text: known terms with their repeats, rarest first if there are too many for one query. */
	terms: string[];
	/** For vectors: the count of each term, unknown terms included. */
	counts: Map<string, number>;
	/** Its content words: without interrogatives, unless there are no other words. */
	contentWords: ResolvedWord[];
	/** The counts of the terms of the content words. */
	contentCounts: Map<string, number>;
}

/** A message may be a pasted page, with the question at its beginning or end. */
const MAX_QUERY_WORDS = 200;

/**
 * Matches that full text may rank for one query, because their number is the cost of a search. Words that most chunks have
 * carry no information and are dropped first.
 */
const MAX_MATCHES = 20_000;
const STOP_TERM_SHARE = 0.5;
const MAX_TERM_REPEATS = 3;

/**
 * The form of a word in another language counts from this share of its most frequent form on. A rarer form comes from a
 * document whose language was detected wrongly, and its rarity would rank that document first.
 */
const MIN_FORM_SHARE = 0.25;

/** The weight of the synonyms of a word that no document has, and how many count. */
const SYNONYM_RELIABILITY = 0.5;
const MAX_SYNONYMS = 4;

/** The weight of a corrected word relative to a word that was found. */
const CORRECTED_RELIABILITY = 0.5;

/** Analyses the words of a question with the terms of a knowledge base. */
export function analyseQuery(words: readonly QueryWord[], vocabulary: Vocabulary): AnalysedQuery {
	const resolved = new Map<string, ResolvedWord>();
	const counts = new Map<string, number>();
	const contentCounts = new Map<string, number>();
	const contentWords = new Map<string, ResolvedWord>();
	const terms: string[] = [];
	const contentOnly = words.some((word) => !word.isInterrogative);
	for (const word of firstAndLastWords(words)) {
		const key = word.stems.join(' ');
		let resolvedWord = resolved.get(key);
		if (resolvedWord === undefined) {
			resolvedWord = resolve(word, vocabulary);
			resolved.set(key, resolvedWord);
		}
		const found = [...resolvedWord.terms, ...(resolvedWord.longForms ?? []).flat()];
		terms.push(...found);
		const counted = found.length > 0 ? found : word.stems.slice(0, 1);
		for (const term of counted) counts.set(term, (counts.get(term) ?? 0) + 1);
		if (contentOnly && word.isInterrogative) continue;
		contentWords.set(key, resolvedWord);
		for (const term of counted) contentCounts.set(term, (contentCounts.get(term) ?? 0) + 1);
	}
	return { terms: limitTerms(terms, vocabulary), counts, contentWords: [...contentWords.values()], contentCounts };
}

function firstAndLastWords(words: readonly QueryWord[]): readonly QueryWord[] {
	if (words.length <= MAX_QUERY_WORDS) return words;
	return [...words.slice(0, MAX_QUERY_WORDS / 2), ...words.slice(-MAX_QUERY_WORDS / 2)];
}

function resolve(word: QueryWord, vocabulary: Vocabulary): ResolvedWord {
	const forms = (word.variants ?? []).filter((form) => form.every((term) => isKnown(term, vocabulary)));
	const longForms = forms.filter(({ length }) => length > 1);
	const others = forms.filter(({ length }) => length === 1).flat();
	if (longForms.length === 0) return resolveForms(word.stems, vocabulary, others, word.synonyms);
	const isAnyKnown = others.length > 0 || word.stems.some((form) => isKnown(form, vocabulary));
	const resolved = isAnyKnown ? resolveForms(word.stems, vocabulary, others) : null;
	const weight = resolved?.weight ?? Math.max(...longForms.flat().map((term) => weightOf(term, vocabulary)));
	return { terms: resolved?.terms ?? [], longForms, weight, reliability: 1 };
}

/** @param variants known other spellings, none of which replaces a rarer form of the word itself */
function resolveForms(
	stems: readonly string[],
	vocabulary: Vocabulary,
	variants: readonly string[] = [],
	synonyms: readonly string[] = [],
): ResolvedWord {
	const known = stems
		.filter((form) => isKnown(form, vocabulary))
		.map((term) => ({ term, matches: matchesOf(term, vocabulary) }));
	if (known.length > 0 || variants.length > 0) {
		const maxMatches = Math.max(0, ...known.map(({ matches }) => matches));
		const own = known.filter(({ matches }) => matches >= MIN_FORM_SHARE * maxMatches).map(({ term }) => term);
		const all = [...known.map(({ term }) => term), ...variants];
		const weight = Math.min(...all.map((term) => weightOf(term, vocabulary)));
		return { terms: [...new Set([...own, ...variants])], weight, reliability: 1 };
	}
	const similar = synonyms.filter((term) => isKnown(term, vocabulary)).slice(0, MAX_SYNONYMS);
	if (similar.length > 0) {
		const weight = Math.min(...similar.map((term) => weightOf(term, vocabulary)));
		return { terms: similar, weight, reliability: SYNONYM_RELIABILITY };
	}
	for (const form of stems) {
		const corrected = vocabulary.spelling?.nearest(form);
		if (corrected)
			return { terms: [corrected], weight: weightOf(corrected, vocabulary), reliability: CORRECTED_RELIABILITY };
	}
	return { terms: [], weight: weightOf('', vocabulary), reliability: 0 };
}

function isKnown(term: string, { basis, chunksWith }: Vocabulary): boolean {
	return basis?.vocabulary.has(term) || chunksWith(term) > 0;
}

/** From the basis if it has the term, because that needs no read of the index; else from the index. */
function weightOf(term: string, { basis, chunks, chunksWith }: Vocabulary): number {
	const row = basis?.vocabulary.get(term);
	if (basis && row !== undefined) return basis.weights[row] as number;
	const count = term === '' ? 0 : chunksWith(term);
	if (basis && count === 0) return basis.unknown_weight;
	return inverseFrequency(Math.min(count, chunks), chunks);
}

/** The number of chunks that have a term, computed from its weight. */
function matchesOf(term: string, vocabulary: Vocabulary): number {
	return (vocabulary.chunks + 1) * Math.exp(-weightOf(term, vocabulary));
}

function limitTerms(terms: string[], vocabulary: Vocabulary): string[] {
	const distinct = [...new Set(terms)].map((term) => ({ term, matches: matchesOf(term, vocabulary) }));
	distinct.sort((a, b) => a.matches - b.matches);
	const kept = new Set<string>();
	let sum = 0;
	for (const { term, matches } of distinct) {
		sum += matches;
		if (kept.size > 0 && (sum > MAX_MATCHES || matches > STOP_TERM_SHARE * vocabulary.chunks)) break;
		kept.add(term);
	}
	// Each repeat of a term costs a ranking of its matches, so the repeats of a pasted page are limited.
	const times = new Map<string, number>();
	let cost = sum;
	return terms.filter((term) => {
		if (!kept.has(term)) return false;
		const before = times.get(term) ?? 0;
		times.set(term, before + 1);
		if (before === 0) return true;
		if (before >= MAX_TERM_REPEATS) return false;
		cost += matchesOf(term, vocabulary);
		return cost <= MAX_MATCHES;
	});
}
