import type { SearchHit, SearchJob, SearchResult, WorkerResult } from '../src/contract/index.ts';
import {
	deserialiseBasis,
	dialogueQuery,
	type EmbeddedQuery,
	type RankedHit,
	type SearchOptions,
	SpellingCorrector,
	searchGeneration,
	type TrainedVectors,
	VectorIndexCache,
} from '../src/retrieval/index.ts';
import { SearchReader } from '../src/store/sqlite/search/index.ts';

/** The size of the cache of bases, in bytes as stored; the basis in use always stays. */
const MAX_BASES_BYTES = 128 * 1024 * 1024;

/** One connection is enough: a server has one database. */
let openDatabase: { database: string; reader: SearchReader } | undefined;

interface LoadedBasis extends TrainedVectors {
	bytes: number;
}

type Generation = NonNullable<ReturnType<SearchReader['generation']>>;
type QueryVector = NonNullable<SearchJob['targets'][number]['question']>;

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
		const hits: SearchHit[] = [];
		let confidence = 0;
		for (const target of job.targets) {
			const { hybrid, semantic_weight } = target;
			const options = { hybrid, semantic_weight, limit: job.top_k };
			const result = searchTarget(reader, target, job, options);
			confidence = Math.max(confidence, result.confidence);
			for (const hit of result.hits) {
				const searchHit = hit.score >= job.min_score ? toHit(reader, target.knowledge_base_id, hit) : undefined;
				if (searchHit) hits.push(searchHit);
			}
		}
		hits.sort((a, b) => b.score - a.score);
		return { hits: hits.slice(0, job.top_k), confidence };
	});
}

function searchTarget(
	reader: SearchReader,
	target: SearchJob['targets'][number],
	{ query, context }: Pick<SearchJob, 'query' | 'context'>,
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
	};
	return searchGeneration(index, dialogueQuery(query, context ?? null, index.languages), options);
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
