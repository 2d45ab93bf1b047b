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
	withSynonyms,
} from '../src/retrieval/index.ts';
import {
	type FoundChunk,
	openSearchReader,
	type SearchedGeneration,
	type SearchReader,
	type SearchSnapshot,
} from '../src/store/search/index.ts';

/** The size of the cache of bases, in bytes as stored; the basis in use always stays. */
const MAX_BASES_BYTES = 128 * 1024 * 1024;

/** Hits that are found for each passage of a prompt, because some give way to others. */
const CANDIDATES_PER_PASSAGE = 3;

/** One reader is enough: a server has one database. */
let openDatabase: { database: string; reader: SearchReader } | undefined;

interface LoadedBasis extends TrainedVectors {
	bytes: number;
}

type QueryVector = NonNullable<SearchJob['targets'][number]['question']>;

/** A hit with the id of its chunk. */
type FoundHit = SearchHit & { chunk: number };

/** The most recently used last. */
const loadedBases = new Map<string, LoadedBasis>();

/** Searches the given generations and merges their hits by score. A generation that was dropped meanwhile has no hits. */
export default async function search(job: SearchJob): Promise<WorkerResult<SearchResult>> {
	try {
		const reader = await readerOf(job.database);
		return { ok: true, value: await reader.snapshot((index) => searchAll(index, job)) };
	} catch (error) {
		// SQLite's errors lose their message between threads.
		throw new Error(error instanceof Error ? error.message : String(error));
	}
}

async function searchAll(index: SearchSnapshot, job: SearchJob): Promise<SearchResult> {
	const found: FoundHit[] = [];
	let confidence = 0;
	const limit = job.for_prompt ? CANDIDATES_PER_PASSAGE * job.top_k : job.top_k;
	for (const target of job.targets) {
		const { hybrid, semantic_weight } = target;
		const options = { hybrid, semantic_weight, limit };
		const result = await searchTarget(index, target, job, options);
		confidence = Math.max(confidence, result.confidence);
		const hits = result.hits.filter(({ score }) => score >= job.min_score);
		const chunks = await index.chunks(hits.map(({ id }) => id));
		for (const hit of hits) {
			const chunk = chunks.get(hit.id);
			if (chunk) found.push({ ...toHit(target.knowledge_base_id, hit, chunk), chunk: hit.id });
		}
	}
	found.sort((a, b) => b.score - a.score);
	if (!job.for_prompt) return { hits: found.slice(0, job.top_k).map(({ chunk, ...hit }) => hit), confidence };
	return { hits: await withTextAround(index, distinctPassages(found, job.top_k)), confidence };
}

async function searchTarget(
	index: SearchSnapshot,
	target: SearchJob['targets'][number],
	{ query, context, synonyms }: Pick<SearchJob, 'query' | 'context' | 'synonyms'>,
	options: SearchOptions,
) {
	const generation = await index.generation(target.generation);
	if (!generation || generation.chunk_count === 0) return { hits: [], confidence: 0 };
	const { languages } = generation;
	const read = {
		chunks: generation.chunk_count,
		languages,
		semantic: target.question
			? providerVectorsOf(generation, target.question)
			: await trainedBasisOf(index, generation.basis),
		chunksWith: (term: string) => generation.documentFrequency(term),
		keyword: (terms: readonly string[], limit: number) => generation.searchKeywords(terms, limit),
		nearest: (vector: Int8Array, limit: number) => generation.searchNearest(vector, limit),
		vector: (chunk: number) => generation.vector(chunk),
		terms: (chunk: number) => generation.termsOf(chunk),
		texts: (chunks: readonly number[]) => generation.texts(chunks),
	};
	const asked = dialogueQuery(query, context ?? null, languages);
	return searchGeneration(read, synonyms ? withSynonyms(asked, synonyms, languages) : asked, options);
}

/** The question comes as a vector. It cannot be compared with vectors of another embedder or another length. */
function providerVectorsOf(generation: SearchedGeneration, question: QueryVector): EmbeddedQuery | null {
	const { embedder, dimensions, floor } = generation;
	if (embedder !== question.embedder || dimensions !== question.vector.length) return null;
	const { vector, vectorInContext } = question;
	const comparable = vectorInContext?.length === vector.length ? vectorInContext : undefined;
	return { vector, vectorInContext: comparable, floor };
}

function toHit(knowledge_base_id: string, hit: RankedHit, chunk: FoundChunk): SearchHit {
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

async function withTextAround(index: SearchSnapshot, hits: readonly FoundHit[]): Promise<SearchHit[]> {
	const neighbours = await index.neighbours(hits.map(({ chunk }) => chunk));
	return hits.map(({ chunk, ...hit }) => {
		const { previous, next } = neighbours.get(chunk) ?? {};
		const before = previous === undefined ? '' : textBefore(previous, hit.text);
		const after = next === undefined ? '' : textAfter(hit.text, next);
		return { ...hit, around: { before, after } };
	});
}

async function readerOf(database: string): Promise<SearchReader> {
	if (openDatabase?.database !== database) {
		await openDatabase?.reader[Symbol.asyncDispose]();
		openDatabase = { database, reader: await openSearchReader(database) };
		loadedBases.clear();
	}
	return openDatabase.reader;
}

/** The question's vector is computed with the trained basis. */
async function trainedBasisOf(index: SearchSnapshot, id: string | null): Promise<TrainedVectors | null> {
	if (id === null) return null;
	let entry = loadedBases.get(id);
	if (entry === undefined) {
		const model = await index.model(id);
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
