import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchResult, TrainJob, TrainResult, WorkerResult } from '../../../src/contract/index.ts';
import type { ExtractiveRequest, QuotablePassage } from '../../../src/extractive/index.ts';
import { searchSettingsOf } from '../../../src/knowledge/index.ts';
import { workerEntry } from '../../../src/pool/index.ts';
import { type Dialogue, dialogueContext } from '../../../src/retrieval/index.ts';
import { openSqliteStore, type Store } from '../../../src/store/index.ts';
import embed from '../../../workers/embed.ts';
import parse from '../../../workers/parse.ts';
import search from '../../../workers/search.ts';
import { commitAll, serveTrained } from '../../search/serve-trained.ts';
import type { SourceDocument } from '../assistant.ts';

const KNOWLEDGE_BASE = 'kb_local';
const GENERATION = 'gen_local';
const BASIS = 'basis_local';

/**
 * A knowledge base in this process, indexed, trained and searched by the server's own functions. The same documents in the same
 * order give the same passages, scores and confidence.
 */
export class LocalBase implements AsyncDisposable {
	/** All passages, in the order of the documents. */
	readonly passages: readonly QuotablePassage[];
	/** Documents that could not be read. */
	readonly unread: readonly string[];
	readonly #store: Store & { searchDatabase: string };
	readonly #folder: string;
	readonly #semanticWeight: number;

	private constructor(
		store: Store & { searchDatabase: string },
		folder: string,
		semanticWeight: number,
		passages: readonly QuotablePassage[],
		unread: readonly string[],
	) {
		this.unread = unread;
		this.passages = passages;
		this.#store = store;
		this.#folder = folder;
		this.#semanticWeight = semanticWeight;
	}

	/** Documents that cannot be read are left out. A document has its key as identifier. */
	static async create(documents: readonly SourceDocument[]): Promise<LocalBase> {
		const folder = await mkdtemp(join(tmpdir(), 'parley-answers-'));
		const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
		await commitAll(store, {
			op: 'index.open_generation',
			generation: GENERATION,
			knowledge_base_id: KNOWLEDGE_BASE,
			embedder: 'builtin',
		});
		const passages: QuotablePassage[] = [];
		const unread: string[] = [];
		for (const document of documents) {
			const parsed = await parsedDocument(document, join(folder, 'document'));
			if (parsed === null) {
				unread.push(document.key);
				continue;
			}
			const { language, chunks } = parsed;
			const title = parsed.title ?? ('file_name' in document ? document.file_name : 'Untitled');
			for (const { text, heading_path, page } of chunks)
				passages.push({ index: 1, document_id: document.key, title, page, heading_path, text, score: 1 });
			await commitAll(store, {
				op: 'index.add_document',
				generation: GENERATION,
				document_id: document.key,
				title,
				url: null,
				language,
				chunks,
				basis: null,
				vectors: null,
			});
		}
		const train = async (job: TrainJob) => resultOf((await embed(job)) as WorkerResult<TrainResult>);
		const tuned_weight = await serveTrained(store, train, GENERATION, BASIS);
		const record = { search_settings: { hybrid: true, semantic_weight: null }, tuned_weight };
		return new LocalBase(store, folder, searchSettingsOf(record).semantic_weight, passages, unread);
	}

	/** What a reply to the question gets from the search. @param earlier the messages before it, oldest first */
	async request(question: string, earlier: Dialogue['earlier'], topK: number): Promise<ExtractiveRequest> {
		const settings = { semantic_weight: this.#semanticWeight, hybrid: true };
		const target = { knowledge_base_id: KNOWLEDGE_BASE, generation: GENERATION, basis: BASIS, ...settings };
		const context = dialogueContext({ message: question, earlier }) ?? undefined;
		const { hits, confidence }: SearchResult = resultOf(
			await search({
				database: this.#store.searchDatabase,
				targets: [target],
				query: question,
				context,
				top_k: topK,
				min_score: 0,
			}),
		);
		const passages = hits.map(({ document_id, title, page, heading_path, text, score }, at) => {
			return { index: at + 1, document_id, title, page, heading_path, text, score };
		});
		return { question, history: earlier, passages, confidence };
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#store[Symbol.asyncDispose]();
		await rm(this.#folder, { recursive: true, force: true });
	}
}

/** As the parsing process of a server reads it; null if it has no text. */
async function parsedDocument(document: SourceDocument, path: string) {
	const isFile = 'bytes' in document;
	await writeFile(path, isFile ? document.bytes : document.content);
	const parsed = await parse({
		path,
		file_name: isFile ? document.file_name : null,
		content_type: isFile ? null : 'text/plain; charset=utf-8',
		title: isFile ? null : document.title,
		url: null,
	});
	return parsed.ok ? parsed.value : null;
}

function resultOf<T>(answer: WorkerResult<T>): T {
	if (!answer.ok) throw new Error(answer.error.message);
	return answer.value;
}
