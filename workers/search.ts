import type { SearchHit, SearchJob, SearchResult, WorkerResult } from '../src/contract/index.ts';
import {
	deserialiseBasis,
	dialogueQuery,
	distinctPassages,
	type EmbeddedQuery,
	type RankedHit,
	type SearchOptions,
	SpellingCorrector,
	searchGeneration,
	type TrainedVectors,
	textAfter,
	textBefore,
	VectorIndexCache,
	withSynonyms,
} from '../src/retrieval/index.ts';
import { SearchReader } from '../src/store/sqlite/search/index.ts';

/** The size of the cache of bases, in bytes as stored; the basis in use always stays. */
const MAX_BASES_BYTES = 128 * 1024 * 1024;

/** Hits that are found for each passage of a prompt, because some give way to others. */
const CANDIDATES_PER_PASSAGE = 3;

/** One connection is enough: a server has one database. */
let openDatabase: { database: string; reader: SearchReader } | undefined;

interface LoadedBasis extends TrainedVectors {
	bytes: number;
}

type Generation = NonNullable<ReturnType<SearchReader['generation']>>;
type QueryVector = NonNullable<SearchJob['targets'][number]['question']>;

/** A hit with the id of its chunk. */
type FoundHit = SearchHit & { chunk: number };

/** The most recently used last. */
const loadedBases = new Map<string, LoadedBasis>();

const vectorIndexes = new VectorIndexCache();

/** Searches the given generations and merges their hits by score. A generation that was dropped meanwhile has no hits. */
export default async function search(job: SearchJob): Promise<WorkerResult<SearchResult>> {
	try {
		return { ok: true, value: searchAll(job) };
	} catch (error) {
		// SQLite's errors lose their message between threads.
		throw new Error(error instanceof Error ? error.message : String(error));
	}
}

function searchAll(job: SearchJob): SearchResult {
	const reader = readerOf(job.database);
	return reader.snapshot(() => {
		const found: FoundHit[] = [];
		let confidence = 0;
		const limit = job.for_prompt ? CANDIDATES_PER_PASSAGE * job.top_k : job.top_k;
		for (const target of job.targets) {
			const { hybrid, semantic_weight } = target;
			const options = { hybrid, semantic_weight, limit };
			const result = searchTarget(reader, target, job, options);
			confidence = Math.max(confidence, result.confidence);
			for (const hit of result.hits) {
				const searchHit = hit.score >= job.min_score ? toHit(reader, target.knowledge_base_id, hit) : undefined;
				if (searchHit) found.push({ ...searchHit, chunk: hit.id });
			}
		}
		found.sort((a, b) => b.score - a.score);
		const chosen = job.for_prompt ? distinctPassages(found, job.top_k) : found.slice(0, job.top_k);
		const hits = chosen.map(({ chunk, ...hit }) => (job.for_prompt ? withTextAround(reader, chunk, hit) : hit));
		return { hits, confidence };
	});
}

function searchTarget(
	reader: SearchReader,
	target: SearchJob['targets'][number],
	{ query, context, synonyms }: Pick<SearchJob, 'query' | 'context' | 'synonyms'>,
	options: SearchOptions,
) {
	const id = target.generation;
	const generation = reader.generation(id);
	if (!generation || generation.chunk_count === 0) return { hits: [], confidence: 0 };
	const basis = generation.basis ?? '';
	const index = {
		chunks: generation.chunk_count,
		languages: reader.languages(id),
		semantic: target.question
			? providerVectorsOf(reader, generation, target.question)
			: trainedBasisOf(reader, generation),
		chunksWith: (term: string) => reader.documentFrequency(id, term),
		keyword: (terms: readonly string[], limit: number) => reader.searchKeywords(id, terms, limit),
		nearest: (vector: Int8Array, limit: number) => nearest(reader, generation, vector, limit),
		vector: (chunk: number) => reader.vector(basis, chunk),
		terms: (chunk: number) => reader.termsOf(chunk),
		text: (chunk: number) => reader.chunk(chunk)?.text,
	};
	const asked = dialogueQuery(query, context ?? null, index.languages);
	return searchGeneration(index, synonyms ? withSynonyms(asked, synonyms, index.languages) : asked, options);
}

/** From the cache if the generation is large, else from the store. */
function nearest(reader: SearchReader, generation: Generation, vector: Int8Array, limit: number) {
	const { id, basis, dimensions, chunk_count: chunks } = generation;
	if (basis === null || dimensions === null) return [];
	const key = { basis, chunks, dimensions, version: reader.changeCount(id) };
	const inMemoryIndex = vectorIndexes.get(key, () => reader.allVectors(basis, dimensions));
	return inMemoryIndex?.nearest(vector, limit) ?? reader.searchNearest(basis, vector, limit);
}

/** The question's vector is computed with the trained basis. */
function trainedBasisOf(reader: SearchReader, { basis }: Generation): TrainedVectors | null {
	return basis === null ? null : basisOf(reader, basis);
}

/** The question comes as a vector. It cannot be compared with vectors of another embedder or another length. */
function providerVectorsOf(
	reader: SearchReader,
	{ basis, embedder }: Generation,
	question: QueryVector,
): EmbeddedQuery | null {
	const vectors = basis === null ? undefined : reader.vectorInfo(basis);
	if (embedder !== question.embedder || vectors?.dimensions !== question.vector.length) return null;
	const { vector, vectorInContext } = question;
	const comparable = vectorInContext?.length === vector.length ? vectorInContext : undefined;
	return { vector, vectorInContext: comparable, floor: vectors.floor };
}

function toHit(reader: SearchReader, knowledge_base_id: string, hit: RankedHit): SearchHit | undefined {
	const chunk = reader.chunk(hit.id);
	if (!chunk) return undefined;
	const { document_id, position, title, url, text, heading_path, page } = chunk;
	const { score, semantic_score, keyword_score } = hit;
	return {
		knowledge_base_id,
		document_id,
		chunk_id: `${document_id}.${position}`,
		title,
		url,
		text,
		heading_path,
		page,
		score,
		semantic_score,
		keyword_score,
	};
}

function withTextAround(reader: SearchReader, chunk: number, hit: SearchHit): SearchHit {
	const { previous, next } = reader.neighbours(chunk);
	const before = previous === undefined ? '' : textBefore(previous, hit.text);
	const after = next === undefined ? '' : textAfter(hit.text, next);
	return { ...hit, around: { before, after } };
}

function readerOf(database: string): SearchReader {
	if (openDatabase?.database !== database) {
		openDatabase?.reader[Symbol.dispose]();
		openDatabase = { database, reader: new SearchReader(database) };
		loadedBases.clear();
		vectorIndexes.clear();
	}
	return openDatabase.reader;
}

function basisOf(reader: SearchReader, id: string): LoadedBasis | null {
	let entry = loadedBases.get(id);
	if (entry === undefined) {
		const model = reader.model(id);
		// A basis without bytes was not trained here: it has vectors of a provider's embedder, and the question has none.
		if (model === undefined || model.length === 0) return null;
		const basis = deserialiseBasis(model);
		entry = { basis, spelling: new SpellingCorrector(basis.vocabulary.keys()), bytes: model.length };
	}
	loadedBases.delete(id);
	loadedBases.set(id, entry);
	let bytes = 0;
	for (const { bytes: more } of loadedBases.values()) bytes += more;
	for (const [oldest, { bytes: less }] of loadedBases) {
		if (bytes <= MAX_BASES_BYTES || oldest === id) break;
		loadedBases.delete(oldest);
		bytes -= less;
	}
	return entry;
}
