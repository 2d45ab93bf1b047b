import type { SearchHit, SearchJob, SearchResult, WorkerAnswer } from '../src/contract/index.ts';
import {
	type Embedded,
	type Ranking,
	type SearchOptions,
	Spelling,
	searchGeneration,
	type Trained,
	VectorMemory,
} from '../src/knowledge/ranking/index.ts';
import { deserialiseBasis } from '../src/knowledge/semantic/index.ts';
import { SearchReader } from '../src/store/sqlite/search/index.ts';

/** Bases stay in memory up to this many bytes as stored; at least the one in use does. */
const BASES_BYTES = 128 * 1024 * 1024;

/** Connections are few: a server has one database. */
let open: { database: string; reader: SearchReader } | undefined;

interface Loaded extends Trained {
	bytes: number;
}

type Generation = NonNullable<ReturnType<SearchReader['generation']>>;
type Asked = NonNullable<SearchJob['targets'][number]['question']>;

/** The most recently used last. */
const loaded = new Map<string, Loaded>();

const memory = new VectorMemory();

/** Searches the given generations and merges their hits by score. One that has been dropped meanwhile is empty. */
export default async function search(job: SearchJob): Promise<WorkerAnswer<SearchResult>> {
	try {
		return { ok: true, value: found(job) };
	} catch (error) {
		// SQLite's errors lose their message on the way between threads.
		throw new Error(error instanceof Error ? error.message : String(error));
	}
}

function found(job: SearchJob): SearchResult {
	const reader = readerOf(job.database);
	return reader.snapshot(() => {
		const hits: SearchHit[] = [];
		let confidence = 0;
		for (const target of job.targets) {
			const { hybrid, semantic_weight } = target;
			const options = { hybrid, semantic_weight, limit: job.top_k };
			const result = searchTarget(reader, target, job.query, options);
			confidence = Math.max(confidence, result.confidence);
			for (const hit of result.hits) {
				const shown = hit.score >= job.min_score ? present(reader, target.knowledge_base_id, hit) : undefined;
				if (shown) hits.push(shown);
			}
		}
		hits.sort((a, b) => b.score - a.score);
		return { hits: hits.slice(0, job.top_k), confidence };
	});
}

function searchTarget(
	reader: SearchReader,
	target: SearchJob['targets'][number],
	query: string,
	options: SearchOptions,
) {
	const id = target.generation;
	const generation = reader.generation(id);
	if (!generation || generation.chunk_count === 0) return { hits: [], confidence: 0 };
	const basis = generation.basis ?? '';
	const index = {
		chunks: generation.chunk_count,
		languages: reader.languages(id),
		semantic: target.question ? foreign(reader, generation, target.question) : trained(reader, generation),
		chunksWith: (term: string) => reader.chunksWith(id, term),
		keyword: (terms: readonly string[], limit: number) => reader.keyword(id, terms, limit),
		nearest: (vector: Int8Array, limit: number) => nearest(reader, generation, vector, limit),
		vector: (chunk: number) => reader.vector(basis, chunk),
		terms: (chunk: number) => reader.termsOf(chunk),
	};
	return searchGeneration(index, query, options);
}

/** By what is in memory where the generation is a large one, else by the store. */
function nearest(reader: SearchReader, generation: Generation, vector: Int8Array, limit: number) {
	const { id, basis, dimensions, chunk_count: chunks } = generation;
	if (basis === null || dimensions === null) return [];
	const wanted = { basis, chunks, dimensions, changes: reader.changes(id) };
	const kept = memory.of(wanted, () => reader.allVectors(basis, dimensions));
	return kept?.nearest(vector, limit) ?? reader.semantic(basis, vector, limit);
}

/** The words of the question are weighed by what was trained on the documents. */
function trained(reader: SearchReader, { basis }: Generation): Trained | null {
	return basis === null ? null : basisOf(reader, basis);
}

/** The question is a vector already. Vectors of another embedder, or another length, have nothing to say to it. */
function foreign(reader: SearchReader, { basis, embedder }: Generation, question: Asked): Embedded | null {
	const vectors = basis === null ? undefined : reader.vectors(basis);
	if (embedder !== question.embedder || vectors?.dimensions !== question.vector.length) return null;
	return { asked: question.vector, floor: vectors.floor };
}

function present(reader: SearchReader, knowledge_base_id: string, hit: Ranking): SearchHit | undefined {
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
	if (open?.database !== database) {
		open?.reader[Symbol.dispose]();
		open = { database, reader: new SearchReader(database) };
		loaded.clear();
		memory.clear();
	}
	return open.reader;
}

function basisOf(reader: SearchReader, id: string): Loaded | null {
	let entry = loaded.get(id);
	if (entry === undefined) {
		const model = reader.model(id);
		// Without bytes it was not trained here: its vectors are of a provider's embedder, which nobody has asked.
		if (model === undefined || model.length === 0) return null;
		const basis = deserialiseBasis(model);
		entry = { basis, spelling: new Spelling(basis.vocabulary.keys()), bytes: model.length };
	}
	loaded.delete(id);
	loaded.set(id, entry);
	let bytes = 0;
	for (const { bytes: more } of loaded.values()) bytes += more;
	for (const [oldest, { bytes: less }] of loaded) {
		if (bytes <= BASES_BYTES || oldest === id) break;
		loaded.delete(oldest);
		bytes -= less;
	}
	return entry;
}
