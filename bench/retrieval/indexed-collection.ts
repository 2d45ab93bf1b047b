import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchResult, TrainJob, TrainResult, WorkerResult } from '../../src/contract/index.ts';
import { searchSettingsOf } from '../../src/knowledge/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type Dialogue, dialogueContext } from '../../src/retrieval/index.ts';
import { type IndexWrite, openSqliteStore, type Store } from '../../src/store/index.ts';
import { analyse, detectLanguage } from '../../src/text/index.ts';
import embed from '../../workers/embed.ts';
import search from '../../workers/search.ts';
import { commitAll, serveTrained } from '../search/serve-trained.ts';
import type { Collection } from './collections.ts';

const GENERATION = 'gen_bench';
const BASIS = 'basis_bench';
/** Documents in one commit. */
const BATCH_SIZE = 500;

/** The compared kinds of search. `hybrid` has the default settings: the weight that the collection chose itself. */
export const MODES = {
	keyword: { hybrid: true, semantic_weight: 0 },
	semantic: { hybrid: false },
	hybrid: { hybrid: true },
} as const;
export type Mode = keyof typeof MODES;

/** A collection in a separate database file, written and searched by the server's own code. */
export class IndexedCollection implements AsyncDisposable {
	readonly trainMs: number;
	/** The automatic weight of the semantic half. */
	readonly semanticWeight: number;
	readonly #store: Store & { searchDatabase: string };
	readonly #folder: string;

	private constructor(
		store: Store & { searchDatabase: string },
		folder: string,
		{ trainMs, semanticWeight }: Pick<IndexedCollection, 'trainMs' | 'semanticWeight'>,
	) {
		this.#store = store;
		this.#folder = folder;
		this.trainMs = trainMs;
		this.semanticWeight = semanticWeight;
	}

	/** Indexes every document as one chunk, because the collections judge whole documents. */
	static async index({ documents }: Pick<Collection, 'documents'>): Promise<IndexedCollection> {
		const folder = await mkdtemp(join(tmpdir(), 'parley-retrieval-'));
		const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
		await commitAll(store, {
			op: 'index.open_generation',
			generation: GENERATION,
			knowledge_base_id: 'kb_bench',
			embedder: 'builtin',
		});
		for (let at = 0; at < documents.length; at += BATCH_SIZE) {
			await commitAll(store, ...documents.slice(at, at + BATCH_SIZE).map(addDocumentWrite));
		}
		let trainMs = 0;
		const train = async (job: TrainJob) => {
			const started = performance.now();
			const trained = resultOf((await embed(job)) as WorkerResult<TrainResult>);
			trainMs = performance.now() - started;
			return trained;
		};
		const chosen = await serveTrained(store, train, GENERATION, BASIS);
		const record = { search_settings: { hybrid: true, semantic_weight: null }, tuned_weight: chosen };
		return new IndexedCollection(store, folder, { trainMs, semanticWeight: searchSettingsOf(record).semantic_weight });
	}

	/** The ten best documents for a question after earlier messages, and the confidence, from the search worker. */
	async search(query: string, mode: Mode, earlier: Dialogue['earlier'] = []): Promise<SearchResult> {
		const settings = { semantic_weight: this.semanticWeight, ...MODES[mode] };
		const target = { knowledge_base_id: 'kb_bench', generation: GENERATION, basis: BASIS, ...settings };
		const context = dialogueContext({ message: query, earlier }) ?? undefined;
		return resultOf(
			await search({
				database: this.#store.searchDatabase,
				targets: [target],
				query,
				context,
				top_k: 10,
				min_score: 0,
			}),
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#store[Symbol.asyncDispose]();
		await rm(this.#folder, { recursive: true, force: true });
	}
}

function addDocumentWrite({ id, title, text }: Collection['documents'][number]): IndexWrite {
	const language = detectLanguage(`${title}\n${text}`);
	const chunk = {
		text: text || title,
		heading_path: [],
		page: null,
		title_terms: analyse(title, language).join(' '),
		body_terms: analyse(text, language).join(' '),
	};
	return {
		op: 'index.add_document',
		generation: GENERATION,
		document_id: id,
		title,
		url: null,
		language,
		chunks: [chunk],
		basis: null,
		vectors: null,
	};
}

function resultOf<T>(answer: WorkerResult<T>): T {
	if (!answer.ok) throw new Error(answer.error.message);
	return answer.value;
}
