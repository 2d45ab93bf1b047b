import type { QueryWord } from '../../text/index.ts';
import { type Basis, project, writeInt8 } from '../semantic/index.ts';
import { type AnalysedQuery, analyseQuery } from './analysed-query.ts';
import { confidence, coverage, embedderEvidence, familiarity, keywordEvidence, type TermSet } from './confidence.ts';
import { type Candidate, fuse, mergeRankings, type Scores } from './fusion.ts';
import type { SpellingCorrector } from './spelling-corrector.ts';
import { withSpellings } from './variants.ts';

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
	spelling: Pick<SpellingCorrector, 'nearest'>;
}

/** Vectors of a provider's embedder. */
export interface EmbeddedQuery {
	/** The question's vector. */
	vector: Float32Array;
	/** The vector of the question in its context; absent if the question stands alone or the embedder failed. */
	vectorInContext?: Float32Array | undefined;
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
	/** The terms of a chunk. */
	terms(id: number): TermSet | undefined;
	/** The texts of chunks, by id. */
	texts(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

export interface SearchOptions {
	hybrid: boolean;
	/** The share of the semantic half, 0..1. */
	semantic_weight: number;
	/** The maximum number of hits. */
	limit: number;
}

/** What a search looks for. */
export interface SearchQuery {
	/** The words of the message. */
	words: readonly QueryWord[];
	/** Only if the message depends on earlier messages. */
	context?: QueryContext | undefined;
}

/** What a message depends on. */
export interface QueryContext {
	/** The words of the message and of earlier messages, repeated by their weight. */
	words: readonly QueryWord[];
	/** The words of the message and of the question before, which a passage with the answer shares. */
	asked: readonly QueryWord[];
	/** The share of the search in context in the order and the scores, 0..1. */
	weight: number;
}

/** The candidates of one query. */
interface Ranking {
	/** The words that a passage with the answer shares. */
	asked: AnalysedQuery;
	/** The share of this ranking in the order and the scores, 0..1. */
	weight: number;
	/** The rescaled cosine of each candidate; empty without vectors. */
	cosines: Scores;
	/** Best first. */
	fused: readonly Candidate[];
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
 * Searches one generation: full text and vectors, fused. Without a basis it uses full text alone. A message that depends on
 * earlier messages is searched for alone and in its context, and both orders are merged by the weight of the context.
 * @returns the best hits, best first, and the confidence that they are about the question
 */
export async function searchGeneration(
	generation: GenerationIndex,
	{ words, context }: SearchQuery,
	options: SearchOptions,
): Promise<{ hits: RankedHit[]; confidence: number }> {
	// Both searches read the same terms and vectors, and correct the same words.
	const index = {
		...generation,
		semantic: withMemoisedSpelling(generation.semantic),
		chunksWith: memoised((term: string) => generation.chunksWith(term)),
		vector: memoised((id: number) => generation.vector(id)),
	};
	const rankings: Ranking[] = [];
	if (context) {
		const asked = await analyse(index, context.asked);
		const ranked = rank(index, await analyse(index, context.words), options, true);
		rankings.push({ asked, weight: context.weight, ...ranked });
	}
	const weight = 1 - (context?.weight ?? 0);
	if (weight > 0) {
		const question = await analyse(index, words);
		rankings.unshift({ asked: question, weight, ...rank(index, question, options, false) });
	}
	return scoreHits(index, rankings, options.limit);
}

function withMemoisedSpelling(semantic: GenerationIndex['semantic']): GenerationIndex['semantic'] {
	if (semantic === null || !('basis' in semantic)) return semantic;
	const { basis, spelling } = semantic;
	return { basis, spelling: { nearest: memoised((word: string) => spelling.nearest(word)) } };
}

async function analyse(index: GenerationIndex, words: readonly QueryWord[]): Promise<AnalysedQuery> {
	const trained = trainedVectorsOf(index);
	return analyseQuery(await withSpellings(words, index), {
		basis: trained?.basis ?? null,
		spelling: trained?.spelling ?? null,
		chunks: index.chunks,
		chunksWith: index.chunksWith,
	});
}

function rank(
	index: GenerationIndex,
	question: AnalysedQuery,
	options: SearchOptions,
	isInContext: boolean,
): Pick<Ranking, 'cosines' | 'fused'> {
	const { semantic } = index;
	const keywordAlone = semantic === null;
	// A provider's embedder may understand words that no document has.
	if (question.terms.length === 0 && (keywordAlone || 'basis' in semantic)) return { cosines: new Map(), fused: [] };
	const keyword =
		options.hybrid || keywordAlone
			? new Map(index.keyword(question.terms, MAX_FUSION_CANDIDATES).map(({ id, score }) => [id, score]))
			: new Map<number, number>();
	if (keywordAlone) return { cosines: new Map(), fused: fuse(keyword, new Map(), 0) };
	const embedded = 'basis' in semantic ? embedQuery(semantic.basis, question) : semantic;
	const vector = (isInContext ? embedded.vectorInContext : undefined) ?? embedded.vector;
	return pseudoRelevanceFeedback(index, { vector, floor: embedded.floor }, keyword, options);
}

function trainedVectorsOf({ semantic }: GenerationIndex): TrainedVectors | null {
	return semantic !== null && 'basis' in semantic ? semantic : null;
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

/** Merges the rankings and scores the best of them, each ranking by its weight. */
function scoreHits(
	index: GenerationIndex,
	rankings: readonly Ranking[],
	limit: number,
): { hits: RankedHit[]; confidence: number } {
	const merged = mergeRankings(rankings).slice(0, Math.max(limit, CONFIDENCE_HITS));
	const parts = merged.map(({ id }) => {
		const terms = index.terms(id);
		return rankings.map(({ asked, cosines }) => ({
			coverage: terms ? coverage(asked.contentWords, terms, index.chunks) : 0,
			cosine: Math.min(1, Math.max(0, cosines.get(id) ?? 0)),
		}));
	});
	const weighted = (partOf: (ranking: Ranking, position: number) => number) =>
		rankings.reduce((sum, ranking, position) => sum + ranking.weight * partOf(ranking, position), 0);
	const combined = weighted(({ asked }, position) => {
		const best = parts.slice(0, CONFIDENCE_HITS).flatMap((hit) => hit[position] ?? []);
		return confidenceOf(index, asked, {
			coverage: Math.max(0, ...best.map((part) => part.coverage)),
			cosine: Math.max(0, ...best.map((part) => part.cosine)),
		});
	});
	const hits = merged.slice(0, limit).map(({ id, fusedScore }, at) => ({
		id,
		score: fusedScore * combined,
		keyword_score: weighted((_, position) => parts[at]?.[position]?.coverage ?? 0),
		semantic_score: weighted((_, position) => parts[at]?.[position]?.cosine ?? 0),
	}));
	return { hits, confidence: combined };
}

function confidenceOf(
	{ semantic }: GenerationIndex,
	asked: AnalysedQuery,
	best: { coverage: number; cosine: number },
): number {
	if (semantic === null) return confidence(keywordEvidence(best.coverage));
	if (!('basis' in semantic)) return confidence(embedderEvidence(best.coverage, best.cosine));
	const { reach } = project(semantic.basis, asked.contentCounts);
	return confidence({ ...best, familiarity: familiarity(reach, semantic.basis.mean_reach) });
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

function memoised<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
	const cache = new Map<Key, Value>();
	return (key) => {
		const cached = cache.get(key);
		if (cached !== undefined || cache.has(key)) return cached as Value;
		const value = compute(key);
		cache.set(key, value);
		return value;
	};
}
