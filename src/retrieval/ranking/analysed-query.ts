import type { QueryWord } from '../../text/index.ts';
import { type Basis, inverseFrequency } from '../semantic/index.ts';
import type { SpellingCorrector } from './spelling-corrector.ts';

/** What a knowledge base knows of terms. */
export interface Vocabulary {
	/** Null before the first training. */
	basis: Basis | null;
	/** Null where there is nothing to correct by. */
	spelling: SpellingCorrector | null;
	/** How many chunks there are. */
	chunks: number;
	/** How many chunks have a term. */
	chunksWith(term: string): number;
}

/** A distinct word that the question is about. */
export interface ResolvedWord {
	/** The terms that stand for it in the knowledge base; none where it is unknown. */
	terms: string[];
	/** How much it says: the inverse document frequency of its most frequent term. */
	weight: number;
	/** 1, or less where the word was not known and a similar one stands for it. */
	reliability: number;
}

/** A question in terms of a knowledge base. */
export interface AnalysedQuery {
	/** For the full text: known terms with their repeats, rarest first where not all can be asked for. */
	terms: string[];
	/** For the vectors: how often each term occurs, unknown ones included. */
	counts: Map<string, number>;
	/** What it is about: without the words that only ask, unless there are no others. */
	contentWords: ResolvedWord[];
	/** The same as counted terms. */
	contentCounts: Map<string, number>;
}

/** A message may be a pasted page; what it asks stands at its beginning or its end. */
const MAX_QUERY_WORDS = 200;

/**
 * Matches that the full text may weigh for one query: their number is what a search costs. Words that most chunks have
 * say nothing and are the first to go.
 */
const MAX_MATCHES = 20_000;
const STOP_TERM_SHARE = 0.5;
const MAX_TERM_REPEATS = 3;

/**
 * The same word in another language's form counts from this share of its most frequent form on. A rarer one comes from
 * a document whose language was mistaken, and its rarity would put just that document first.
 */
const MIN_FORM_SHARE = 0.25;

/** A word that was taken for a similar one proves less than one that was found. */
const CORRECTED_RELIABILITY = 0.5;

/** Reads the words of a question in the light of what the knowledge base holds. */
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
		terms.push(...resolvedWord.terms);
		const counted = resolvedWord.terms.length > 0 ? resolvedWord.terms : word.stems.slice(0, 1);
		for (const term of counted) counts.set(term, (counts.get(term) ?? 0) + 1);
		if (contentOnly && word.isInterrogative) continue;
		contentWords.set(key, resolvedWord);
		for (const term of resolvedWord.reliability < 1 ? word.stems.slice(0, 1) : counted)
			contentCounts.set(term, (contentCounts.get(term) ?? 0) + 1);
	}
	return { terms: limitTerms(terms, vocabulary), counts, contentWords: [...contentWords.values()], contentCounts };
}

function firstAndLastWords(words: readonly QueryWord[]): readonly QueryWord[] {
	if (words.length <= MAX_QUERY_WORDS) return words;
	return [...words.slice(0, MAX_QUERY_WORDS / 2), ...words.slice(-MAX_QUERY_WORDS / 2)];
}

function resolve({ stems }: QueryWord, vocabulary: Vocabulary): ResolvedWord {
	const known = stems
		.filter((form) => isKnown(form, vocabulary))
		.map((term) => ({ term, matches: matchesOf(term, vocabulary), weight: weightOf(term, vocabulary) }));
	if (known.length > 0) {
		const maxMatches = Math.max(...known.map(({ matches }) => matches));
		const terms = known.filter(({ matches }) => matches >= MIN_FORM_SHARE * maxMatches).map(({ term }) => term);
		return { terms, weight: Math.min(...known.map(({ weight }) => weight)), reliability: 1 };
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

/** By the basis where it knows the term, because that costs no look into the index; else counted. */
function weightOf(term: string, { basis, chunks, chunksWith }: Vocabulary): number {
	const row = basis?.vocabulary.get(term);
	if (basis && row !== undefined) return basis.weights[row] as number;
	const count = term === '' ? 0 : chunksWith(term);
	if (basis && count === 0) return basis.unknown_weight;
	return inverseFrequency(Math.min(count, chunks), chunks);
}

/** How many chunks have a term, as its weight tells. */
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
	// A repeated term is weighed again each time: what a pasted page repeats all over is not asked so often.
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
