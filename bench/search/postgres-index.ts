import type { SearchJob } from '../../src/contract/index.ts';
import { type Basis, embedChunks, serialiseBasis } from '../../src/retrieval/index.ts';
import { trainBasis } from '../../src/retrieval/training/index.ts';
import type { IndexWrite, Store } from '../../src/store/index.ts';
import { Corpus } from './corpus.ts';
import { commitAll } from './serve-trained.ts';

const GENERATION = 'gen_bench';
const BASIS = 'basis_bench';
const CHUNKS_PER_DOCUMENT = 20;
/** Documents in one commit. */
const BATCH_SIZE = 50;
/** The chunks that the basis is trained on: all take minutes, and the time of a search does not depend on the training. */
const MAX_TRAINED_CHUNKS = 5000;

type AddDocument = Extract<IndexWrite, { op: 'index.add_document' }>;

/** A generation of generated texts with vectors, on PostgreSQL. */
export class PostgresIndex {
	readonly #store: Store;
	readonly #corpus: Corpus;
	readonly #basis: Basis;
	#documents = 0;

	private constructor(store: Store, corpus: Corpus, basis: Basis) {
		this.#store = store;
		this.#corpus = corpus;
		this.#basis = basis;
	}

	static async build(store: Store, seed: number, chunks: number): Promise<PostgresIndex> {
		const sample = new Corpus(seed);
		const documents = Math.ceil(Math.min(chunks, MAX_TRAINED_CHUNKS) / CHUNKS_PER_DOCUMENT);
		const basis = trainBasis(
			Array.from({ length: documents }, () => sample.document(CHUNKS_PER_DOCUMENT)).flatMap((document) =>
				document.chunks.map(({ body_terms }) => ({ title_terms: document.title_terms, body_terms })),
			),
		);
		const { dimensions } = basis;
		const opening = { dimensions, trained_on: MAX_TRAINED_CHUNKS, model: serialiseBasis(basis) };
		await commitAll(
			store,
			{ op: 'index.open_generation', generation: GENERATION, knowledge_base_id: 'kb_bench', embedder: 'builtin' },
			{ op: 'index.open_basis', generation: GENERATION, basis: BASIS, ...opening },
			{ op: 'index.serve_basis', generation: GENERATION, basis: BASIS },
		);
		const index = new PostgresIndex(store, new Corpus(seed), basis);
		for (let left = chunks; left > 0; ) {
			const batch: AddDocument[] = [];
			for (; left > 0 && batch.length < BATCH_SIZE; left -= CHUNKS_PER_DOCUMENT) {
				batch.push(index.#document(Math.min(left, CHUNKS_PER_DOCUMENT)));
			}
			await commitAll(store, ...batch);
		}
		return index;
	}

	/** Adds one more document. */
	async addDocument(chunks: number): Promise<void> {
		await commitAll(this.#store, this.#document(chunks));
	}

	/** What a search job names. */
	target(database: string): Pick<SearchJob, 'database' | 'targets'> {
		const settings = { hybrid: true, semantic_weight: 0.5 };
		return {
			database,
			targets: [{ knowledge_base_id: 'kb_bench', generation: GENERATION, basis: BASIS, ...settings }],
		};
	}

	#document(count: number): AddDocument {
		const { title, title_terms, chunks } = this.#corpus.document(count);
		const parsed = chunks.map((chunk) => ({ ...chunk, title_terms, heading_path: [], page: null }));
		const document_id = `doc_${this.#documents++}`;
		const place = { generation: GENERATION, document_id, title, url: null, language: 'en' };
		const { vectors } = embedChunks(this.#basis, parsed);
		return { op: 'index.add_document', ...place, chunks: parsed, basis: BASIS, vectors };
	}
}
