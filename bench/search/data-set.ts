import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPool, workerEntry } from '../../src/pool/index.ts';
import { type KnowledgeBaseRecord, openSqliteStore, type Store } from '../../src/store/index.ts';
import { Corpus } from './corpus.ts';
import { commitAll, serveTrained } from './serve-trained.ts';

/** Where data sets lie that take long to build, in no commit. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DATA = join(ROOT, '.build/bench/data');
const CHUNKS_A_DOCUMENT = 20;
const SEED = 1;
/** Documents that are being written at once, as when many are uploaded. */
const AT_ONCE = 8;

/** What the content of a data set comes from: where one of them changes, it is built anew. */
const SOURCES = [
	'bench/search/corpus.ts',
	'bench/search/random.ts',
	'bench/search/data-set.ts',
	'src/knowledge/semantic/train.ts',
	'src/knowledge/semantic/embed.ts',
	'src/knowledge/semantic/model-format.ts',
	'src/store/sqlite/search-index-write.ts',
	'src/store/sqlite/search-index-tables.ts',
];

/** A folder with a database of one knowledge base for each size, each with a serving, trained generation. */
export interface SearchData {
	dataDir: string;
	/** By the number of chunks. */
	bases: Map<number, KnowledgeBaseRecord['id']>;
}

/** The data set, built where it is not there yet. */
export async function searchData(sizes: readonly number[]): Promise<SearchData> {
	const name = `search-${await fingerprint(sizes)}`;
	const dataDir = join(DATA, name);
	if (!existsSync(dataDir)) {
		const started = performance.now();
		console.log(`Building ${sizes.map((size) => size.toLocaleString('en')).join(', ')} chunks, once: a few minutes.`);
		await removeStale();
		const unfinished = join(DATA, `${name}-${process.pid}`);
		try {
			await build(unfinished, sizes);
			// Only a whole one gets the name by which it is found.
			await rename(unfinished, dataDir);
		} finally {
			await rm(unfinished, { recursive: true, force: true });
		}
		console.log(`Built in ${Math.round((performance.now() - started) / 1000)} s.`);
	}
	return { dataDir, bases: new Map(sizes.map((size) => [size, `kb_${size}`])) };
}

async function fingerprint(sizes: readonly number[]): Promise<string> {
	const hash = createHash('sha256').update(JSON.stringify(sizes));
	for (const path of SOURCES) hash.update(await readFile(join(ROOT, path)));
	return hash.digest('hex').slice(0, 12);
}

async function removeStale(): Promise<void> {
	await mkdir(DATA, { recursive: true });
	for (const name of await readdir(DATA)) {
		if (name.startsWith('search-')) await rm(join(DATA, name), { recursive: true, force: true });
	}
}

async function build(dataDir: string, sizes: readonly number[]): Promise<void> {
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	await using pool = createPool({ threads: 1 });
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

/** One commit a document, as the server writes them. */
async function write(store: Store, generation: string, size: number): Promise<void> {
	const corpus = new Corpus(SEED);
	for (let at = 0; at < size; ) {
		const commits: Array<Promise<void>> = [];
		for (let more = 0; more < AT_ONCE && at < size; more++) {
			const { title, title_terms, chunks } = corpus.document(Math.min(CHUNKS_A_DOCUMENT, size - at));
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

/** A knowledge base in which nothing is yet. */
export function emptyBase(id: string): Omit<KnowledgeBaseRecord, 'version'> {
	const now = Date.now();
	return {
		id,
		workspace_id: 'ws_bench',
		name: id,
		description: null,
		search_settings: { hybrid: true, semantic_weight: 0.5 },
		generation: null,
		rebuilding: null,
		embedder: null,
		reindex_reason: null,
		problem: null,
		documents_total: 0,
		documents_pending: 0,
		documents_failed: 0,
		last_indexed_at: null,
		created_at: now,
		updated_at: now,
	};
}
