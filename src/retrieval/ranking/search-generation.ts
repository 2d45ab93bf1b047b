import { queryWords } from '../../text/index.ts';
import { type Basis, type ChunkTerms, countTerms, project, writeInt8 } from '../semantic/index.ts';
import { type AnalysedQuery, analyseQuery } from './analysed-query.ts';
import { confidence, coverage, embedderEvidence, familiarity, keywordEvidence } from './confidence.ts';
import { type Candidate, fuse, type Scores } from './fusion.ts';
import type { SpellingCorrector } from './spelling-corrector.ts';

/** The number of best candidates of each half that are fused. */
const MAX_FUSION_CANDIDATES = 100;
/** Candidates of the semantic half if it is alone: more, so that pseudo-relevance feedback has a choice. */
const MAX_SEMANTIC_CANDIDATES = 200;

/** The weight of the best hits' mean in the second query of pseudo-relevance feedback. */
const FEEDBACK_HITS = 3;
const FEEDBACK_WEIGHT = 0.5;

/** The number of hits that confidence is computed from. */
const CONFIDENCE_HITS = 5;

/** Vectors that were trained on the documents. */
export interface TrainedVectors {
	basis: Basis;
	spelling: SpellingCorrector;
}

/** Vectors of a provider's embedder. */
export interface EmbeddedQuery {
	/** The question's vector. */
	vector: Float32Array;
	/** The cosine of unrelated texts with this embedder, from 0 to below 1. */
	floor: number;
}

/** The index of one generation in a consistent snapshot. */
export interface GenerationIndex {
	chunks: number;
	/** The languages of the documents, the most frequent first. */
	languages: ReadonlyArray<string | null>;
	/** Null before the first training, and if the question has no vector of the embedder: then full text is used alone. */
	semantic: TrainedVectors | EmbeddedQuery | null;
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
	/** The maximum number of hits. */
	limit: number;
}

interface StoredVector {
	values: Int8Array;
	norm: number;
}

/** A hit. */
export interface RankedHit {
	id: number;
	/** Fused score times confidence, 0..1. */
	score: number;
	keyword_score: number;
	semantic_score: number;
}

/**
 * Searches one generation: full text and vectors, fused. Without a basis it uses full text alone.
 * @returns the best hits, best first, and the confidence that they are about the question
 */
export function searchGeneration(
	index: GenerationIndex,
	query: string,
	options: SearchOptions,
): { hits: RankedHit[]; confidence: number } {
	const { semantic } = index;
	const trained = semantic !== null && 'basis' in semantic ? semantic : null;
	const question = analyseQuery(queryWords(query, index.languages), {
		basis: trained?.basis ?? null,
		spelling: trained?.spelling ?? null,
		chunks: index.chunks,
		chunksWith: memoised((term) => index.chunksWith(term)),
	});
	const keywordAlone = semantic === null;
	// A provider's embedder may understand words that no document has.
	if (question.terms.length === 0 && (keywordAlone || trained)) return { hits: [], confidence: 0 };
	const keyword =
		options.hybrid || keywordAlone
			? new Map(index.keyword(question.terms, MAX_FUSION_CANDIDATES).map(({ id, score }) => [id, score]))
			: new Map<number, number>();
	const { cosines, fused } = keywordAlone
		? { cosines: new Map<number, number>(), fused: fuse(keyword, new Map(), 0) }
		: pseudoRelevanceFeedback(
				index,
				trained ? embedQuery(trained.basis, question) : (semantic as EmbeddedQuery),
				keyword,
				options,
			);
	return scoreHits(index, trained?.basis ?? null, question, cosines, fused, options.limit);
}

/** The question in the directions of a trained basis. The floor of its cosines is 0. */
function embedQuery(basis: Basis, question: AnalysedQuery): EmbeddedQuery {
	const vector = new Float32Array(basis.dimensions);
	vector.set(project(basis, question.counts).direction);
	return { vector, floor: 0 };
}

/** Fuses full text and vectors, then again with the question moved towards the best hits (pseudo-relevance feedback). */
function pseudoRelevanceFeedback(
	index: GenerationIndex,
	{ vector, floor }: EmbeddedQuery,
	keyword: Scores,
	{ hybrid, semantic_weight }: SearchOptions,
): { cosines: Scores; fused: Candidate[] } {
	const weight = hybrid ? semantic_weight : 1;
	const stored = new Int8Array(vector.length);
	writeInt8(vector, stored, 0);
	const neighbours = index.nearest(stored, hybrid ? MAX_FUSION_CANDIDATES : MAX_SEMANTIC_CANDIDATES);

	const vectors = new Map<number, StoredVector>();
	for (const id of new Set([...keyword.keys(), ...neighbours.map(({ id }) => id)])) {
		const values = index.vector(id);
		if (values) vectors.set(id, { values, norm: normOf(values) });
	}
	const cosines = rescaledCosines(vector, floor, vectors);
	const shifted = Float32Array.from(vector);
	const best = fuse(keyword, cosines, weight).flatMap(({ id }) => vectors.get(id) ?? []);
	for (const { values, norm } of best.slice(0, FEEDBACK_HITS)) {
		const share = FEEDBACK_WEIGHT / FEEDBACK_HITS / (norm || 1);
		for (let i = 0; i < shifted.length; i++) (shifted[i] as number) += share * (values[i] as number);
	}
	return { cosines, fused: fuse(keyword, rescaledCosines(shifted, floor, vectors), weight) };
}

function scoreHits(
	index: GenerationIndex,
	basis: Basis | null,
	question: AnalysedQuery,
	cosines: Scores,
	fused: readonly Candidate[],
	limit: number,
): { hits: RankedHit[]; confidence: number } {
	const hits = fused.slice(0, Math.max(limit, CONFIDENCE_HITS)).map(({ id, fusedScore }) => {
		const terms = index.terms(id);
		return {
			id,
			score: fusedScore,
			keyword_score: terms ? coverage(question.contentWords, countTerms(terms), index.chunks) : 0,
			semantic_score: Math.min(1, Math.max(0, cosines.get(id) ?? 0)),
		};
	});
	const topHits = hits.slice(0, CONFIDENCE_HITS);
	const maxCoverage = Math.max(0, ...topHits.map((hit) => hit.keyword_score));
	const maxCosine = Math.max(0, ...topHits.map((hit) => hit.semantic_score));
	const score = confidence(
		basis
			? {
					coverage: maxCoverage,
					cosine: maxCosine,
					familiarity: familiarity(project(basis, question.contentCounts).reach, basis.mean_reach),
				}
			: index.semantic === null
				? keywordEvidence(maxCoverage)
				: embedderEvidence(maxCoverage, maxCosine),
	);
	return { hits: hits.slice(0, limit).map((hit) => ({ ...hit, score: hit.score * score })), confidence: score };
}

/**
 * The cosine of a vector with each stored vector, scaled so that the floor is 0 and 1 stays 1, because embedders differ most
 * in their floor. A vector of length zero counts as cosine zero.
 */
function rescaledCosines(
	query: Float32Array,
	floor: number,
	vectors: ReadonlyMap<number, StoredVector>,
): Map<number, number> {
	const cosines = new Map<number, number>();
	const queryNorm = normOf(query);
	for (const [id, { values, norm }] of vectors) {
		let sum = 0;
		for (let i = 0; i < values.length; i++) sum += (values[i] as number) * (query[i] as number);
		cosines.set(id, (sum / (queryNorm * norm || 1) - floor) / (1 - floor));
	}
	return cosines;
}

function normOf(values: Int8Array | Float32Array): number {
	let square = 0;
	for (let i = 0; i < values.length; i++) square += (values[i] as number) ** 2;
	return Math.sqrt(square);
}

function memoised(count: (term: string) => number): (term: string) => number {
	const cache = new Map<string, number>();
	return (term) => {
		let value = cache.get(term);
		if (value === undefined) {
			value = count(term);
			cache.set(term, value);
		}
		return value;
	};
}
