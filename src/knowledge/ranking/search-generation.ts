import { queryWords } from '../../text/index.ts';
import { type Basis, type ChunkTerms, countTerms, project, writeInt8 } from '../semantic/index.ts';
import { confidence, coverage, familiarity, ofEmbedder, ofWords } from './confidence.ts';
import { type Candidate, fuse, type Scores } from './fusion.ts';
import { type Question, understand } from './question.ts';
import type { Spelling } from './spelling.ts';

/** Best of each half that are fused. */
const CANDIDATES = 100;
/** How many more the semantic half takes where it is alone, so that the second look has something to choose from. */
const CANDIDATES_ALONE = 200;

/** The question is asked again, moved towards the mean of its best hits by this much. */
const FEEDBACK_HITS = 3;
const FEEDBACK = 0.5;

/** The hits that confidence is judged by. */
const JUDGED = 5;

/** Vectors that were trained on the documents themselves. */
export interface Trained {
	basis: Basis;
	spelling: Spelling;
}

/** Vectors of a provider's embedder. */
export interface Embedded {
	/** The question's. */
	asked: Float32Array;
	/** The cosine that unrelated texts have with this embedder, 0..1 and less than 1. */
	floor: number;
}

/** What is searched: the index of one generation, all of it as it was at one moment. */
export interface GenerationIndex {
	chunks: number;
	/** The languages of the documents, the most frequent first. */
	languages: ReadonlyArray<string | null>;
	/** Null before the first training, and where the question has no vector of the embedder: then the words must do. */
	semantic: Trained | Embedded | null;
	chunksWith(term: string): number;
	keyword(terms: readonly string[], limit: number): Array<{ id: number; score: number }>;
	nearest(vector: Int8Array, limit: number): Array<{ id: number; score: number }>;
	vector(id: number): Int8Array | undefined;
	terms(id: number): ChunkTerms | undefined;
}

export interface SearchOptions {
	hybrid: boolean;
	/** The share of the semantic half, 0..1. */
	semantic_weight: number;
	/** How many hits are wanted. */
	limit: number;
}

interface StoredVector {
	values: Int8Array;
	length: number;
}

/** A chunk that was found. */
export interface Ranking {
	id: number;
	/** Fused score times confidence, 0..1. */
	score: number;
	keyword_score: number;
	semantic_score: number;
}

/**
 * Searches one generation: full text and vectors, fused. Without a basis the full text alone.
 * @returns the best hits, best first, and the confidence that they are about the question
 */
export function searchGeneration(
	index: GenerationIndex,
	query: string,
	options: SearchOptions,
): { hits: Ranking[]; confidence: number } {
	const { semantic } = index;
	const trained = semantic !== null && 'basis' in semantic ? semantic : null;
	const question = understand(queryWords(query, index.languages), {
		basis: trained?.basis ?? null,
		spelling: trained?.spelling ?? null,
		chunks: index.chunks,
		chunksWith: memoised((term) => index.chunksWith(term)),
	});
	const keywordAlone = semantic === null;
	// A provider's embedder may know words that no document has.
	if (question.terms.length === 0 && (keywordAlone || trained)) return { hits: [], confidence: 0 };
	const keyword =
		options.hybrid || keywordAlone
			? new Map(index.keyword(question.terms, CANDIDATES).map(({ id, score }) => [id, score]))
			: new Map<number, number>();
	const { cosines, fused } = keywordAlone
		? { cosines: new Map<number, number>(), fused: fuse(keyword, new Map(), 0) }
		: lookTwice(index, trained ? ofBasis(trained.basis, question) : (semantic as Embedded), keyword, options);
	return judge(index, trained?.basis ?? null, question, cosines, fused, options.limit);
}

/** The question in the directions of a trained basis. What cosines are above is nothing there. */
function ofBasis(basis: Basis, question: Question): Embedded {
	const asked = new Float32Array(basis.dimensions);
	asked.set(project(basis, question.counts).direction);
	return { asked, floor: 0 };
}

/** Fuses full text and vectors, then again with the question moved towards the best of the first look. */
function lookTwice(
	index: GenerationIndex,
	{ asked, floor }: Embedded,
	keyword: Scores,
	{ hybrid, semantic_weight }: SearchOptions,
): { cosines: Scores; fused: Candidate[] } {
	const weight = hybrid ? semantic_weight : 1;
	const stored = new Int8Array(asked.length);
	writeInt8(asked, stored, 0);
	const near = index.nearest(stored, hybrid ? CANDIDATES : CANDIDATES_ALONE);

	const vectors = new Map<number, StoredVector>();
	for (const id of new Set([...keyword.keys(), ...near.map(({ id }) => id)])) {
		const values = index.vector(id);
		if (values) vectors.set(id, { values, length: lengthOf(values) });
	}
	const cosines = cosinesWith(asked, floor, vectors);
	const moved = Float32Array.from(asked);
	const best = fuse(keyword, cosines, weight).flatMap(({ id }) => vectors.get(id) ?? []);
	for (const { values, length } of best.slice(0, FEEDBACK_HITS)) {
		const share = FEEDBACK / FEEDBACK_HITS / (length || 1);
		for (let i = 0; i < moved.length; i++) (moved[i] as number) += share * (values[i] as number);
	}
	return { cosines, fused: fuse(keyword, cosinesWith(moved, floor, vectors), weight) };
}

function judge(
	index: GenerationIndex,
	basis: Basis | null,
	question: Question,
	cosines: Scores,
	fused: readonly Candidate[],
	limit: number,
): { hits: Ranking[]; confidence: number } {
	const hits = fused.slice(0, Math.max(limit, JUDGED)).map(({ id, fused }) => {
		const terms = index.terms(id);
		return {
			id,
			score: fused,
			keyword_score: terms ? coverage(question.about, countTerms(terms), index.chunks) : 0,
			semantic_score: Math.min(1, Math.max(0, cosines.get(id) ?? 0)),
		};
	});
	const judged = hits.slice(0, JUDGED);
	const covered = Math.max(0, ...judged.map((hit) => hit.keyword_score));
	const cosine = Math.max(0, ...judged.map((hit) => hit.semantic_score));
	const sure = confidence(
		basis
			? {
					coverage: covered,
					cosine,
					familiarity: familiarity(project(basis, question.aboutCounts).reach, basis.mean_reach),
				}
			: index.semantic === null
				? ofWords(covered)
				: ofEmbedder(covered, cosine),
	);
	return { hits: hits.slice(0, limit).map((hit) => ({ ...hit, score: hit.score * sure })), confidence: sure };
}

/**
 * The cosine of a vector with each of the stored ones, as its share of the way from the floor to 1: what embedders differ in
 * most is where that way begins. Where either has no length, as if the cosine were zero.
 */
function cosinesWith(
	asked: Float32Array,
	floor: number,
	vectors: ReadonlyMap<number, StoredVector>,
): Map<number, number> {
	const cosines = new Map<number, number>();
	const askedLength = lengthOf(asked);
	for (const [id, { values, length }] of vectors) {
		let sum = 0;
		for (let i = 0; i < values.length; i++) sum += (values[i] as number) * (asked[i] as number);
		cosines.set(id, (sum / (askedLength * length || 1) - floor) / (1 - floor));
	}
	return cosines;
}

function lengthOf(values: Int8Array | Float32Array): number {
	let square = 0;
	for (let i = 0; i < values.length; i++) square += (values[i] as number) ** 2;
	return Math.sqrt(square);
}

function memoised(count: (term: string) => number): (term: string) => number {
	const known = new Map<string, number>();
	return (term) => {
		let value = known.get(term);
		if (value === undefined) {
			value = count(term);
			known.set(term, value);
		}
		return value;
	};
}
