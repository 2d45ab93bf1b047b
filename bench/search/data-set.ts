import { createLog } from '../../src/base/index.ts';
import { createWorkerPool, workerEntry } from '../../src/pool/index.ts';
import { type KnowledgeBaseRecord, openSqliteStore, type Store } from '../../src/store/index.ts';
import { copyOf, dataSet } from '../load/data-set.ts';
import { Corpus } from './corpus.ts';
import { commitAll, serveTrained } from './serve-trained.ts';

const CHUNKS_PER_DOCUMENT = 20;
const SEED = 1;
/** Documents that are written at the same time, as after many uploads. */
const CONCURRENT_COMMITS = 8;

/** Sources of a data set's content, besides the storage code. */
const SOURCES = ['./', '../../src/text/', '../../src/retrieval/semantic/', '../../src/retrieval/training/'].map(
	(path) => new URL(path, import.meta.url),
);

/** A folder with a database that has a knowledge base for each size, with a trained serving generation. */
export interface SearchData extends AsyncDisposable {
	dataDir: string;
	/** By the number of chunks. */
	bases: Map<number, KnowledgeBaseRecord['id']>;
}

/** A copy of the data set. Building it the first time takes some minutes. */
export async function searchData(sizes: readonly number[]): Promise<SearchData> {
	const folder = await dataSet(`search-${sizes.join('-')}`, SOURCES, (empty) => build(empty, sizes));
	const copy = await copyOf(folder);
	return {
		dataDir: copy.folder,
		bases: new Map(sizes.map((size) => [size, `kb_${size}`])),
		[Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
	};
}

async function build(dataDir: string, sizes: readonly number[]): Promise<void> {
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	for (const size of sizes) {
		const generation = `gen_${size}`;
		const basis = `basis_${size}`;
		const knowledgeBase = emptyBase(`kb_${size}`);
		await commitAll(
			store,
			{ op: 'insert', kind: 'knowledge_bases', record: { ...knowledgeBase, generation, embedder: 'builtin' } },
			{ op: 'index.open_generation', generation, knowledge_base_id: knowledgeBase.id, embedder: 'builtin' },
		);
		await write(store, generation, size);
		await serveTrained(store, (job) => pool.train(job), generation, basis);
	}
}

/** Writes one commit for each document, as the server does. */
async function write(store: Store, generation: string, size: number): Promise<void> {
	const corpus = new Corpus(SEED);
	for (let at = 0; at < size; ) {
		const commits: Array<Promise<void>> = [];
		for (let more = 0; more < CONCURRENT_COMMITS && at < size; more++) {
			const { title, title_terms, chunks } = corpus.document(Math.min(CHUNKS_PER_DOCUMENT, size - at));
			commits.push(
				commitAll(store, {
					op: 'index.add_document',
					generation,
					document_id: `doc_${at}`,
					title,
					url: null,
					language: 'en',
					chunks: chunks.map((chunk) => ({ ...chunk, title_terms, heading_path: [], page: null })),
					basis: null,
					vectors: null,
				}),
			);
			at += chunks.length;
		}
		await Promise.all(commits);
	}
}

/** Creates an empty knowledge base. */
export function emptyBase(id: string): Omit<KnowledgeBaseRecord, 'version'> {
	const now = Date.now();
	return {
		id,
		workspace_id: 'ws_bench',
		name: id,
		description: null,
		search_settings: { hybrid: true, semantic_weight: null },
		generation: null,
		rebuilding: null,
		embedder: null,
		reindex_reason: null,
		problem: null,
		documents_total: 0,
		documents_pending: 0,
		documents_failed: 0,
		last_indexed_at: null,
		trained_at: null,
		training_asked_at: null,
		tuned_on: 0,
		changed_chunks: 0,
		tuned_weight: null,
		training_failures: 0,
		created_at: now,
		updated_at: now,
	};
}
