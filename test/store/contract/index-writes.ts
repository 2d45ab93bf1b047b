import { type IndexWrite, requireCommitted, type Store } from '../../../src/store/index.ts';
import type { SearchedGeneration, SearchReader, SearchSnapshot } from '../../../src/store/search/index.ts';

export const DIMENSIONS = 4;

/** A store with a reader of its search index. */
export interface IndexedStore {
	store: Store;
	reader: SearchReader;
}

export type AddDocument = Extract<IndexWrite, { op: 'index.add_document' }>;

let lastNumber = 0;

/** The search index of one test, with ids of its own. */
export class TestIndex {
	readonly store: Store;
	readonly reader: SearchReader;
	readonly #number = ++lastNumber;

	constructor({ store, reader }: IndexedStore) {
		this.store = store;
		this.reader = reader;
	}

	/** The name as an id that no other test has. */
	id(name: string): string {
		return `${name}_t${this.#number}`;
	}

	async write(...write: IndexWrite[]): Promise<void> {
		requireCommitted(await this.store.commit({ write }));
	}

	open(generation = 'gen_1', knowledgeBase = 'kb_1', embedder = 'builtin'): IndexWrite {
		const [id, knowledge_base_id] = [this.id(generation), this.id(knowledgeBase)];
		return { op: 'index.open_generation', generation: id, knowledge_base_id, embedder };
	}

	openBasis(basis = 'basis_1', generation = 'gen_1'): Extract<IndexWrite, { op: 'index.open_basis' }> {
		return {
			op: 'index.open_basis',
			generation: this.id(generation),
			basis: this.id(basis),
			dimensions: DIMENSIONS,
			trained_on: 2,
			model: Uint8Array.of(1, 2, 3),
		};
	}

	serve(basis = 'basis_1', generation = 'gen_1'): IndexWrite {
		return { op: 'index.serve_basis', generation: this.id(generation), basis: this.id(basis) };
	}

	/** A document with a chunk for each body. `more.generation` and `more.basis` are names. */
	add(document: string, bodies: readonly string[], more: Partial<AddDocument> = {}): AddDocument {
		const { generation = 'gen_1', basis = null, ...rest } = more;
		return {
			op: 'index.add_document',
			generation: this.id(generation),
			document_id: this.id(document),
			title: `Title of ${document}`,
			url: null,
			language: 'en',
			chunks: bodies.map((body) => ({
				text: `text of ${body}`,
				heading_path: ['One', 'Two'],
				page: 3,
				title_terms: 'head',
				body_terms: body,
			})),
			basis: basis === null ? null : this.id(basis),
			vectors: null,
			...rest,
		};
	}

	remove(document: string, generation = 'gen_1'): IndexWrite {
		return { op: 'index.remove_document', generation: this.id(generation), document_id: this.id(document) };
	}

	copy(from: string, to: string, more: { from_generation?: string } = {}): IndexWrite {
		return {
			op: 'index.copy_document',
			generation: this.id('gen_1'),
			from_document_id: this.id(from),
			...(more.from_generation === undefined ? {} : { from_generation: this.id(more.from_generation) }),
			document_id: this.id(to),
			title: `Title of ${to}`,
			url: null,
		};
	}

	addVectors(chunk_ids: number[], vectors: Int8Array, basis = 'basis_1'): IndexWrite {
		return { op: 'index.add_vectors', basis: this.id(basis), chunk_ids, vectors };
	}

	/** Reads a generation in a snapshot of its own. @throws Error when it does not exist */
	async read<T>(read: (generation: SearchedGeneration, index: SearchSnapshot) => T | Promise<T>, name = 'gen_1') {
		return this.reader.snapshot(async (index) => {
			const generation = await index.generation(this.id(name));
			if (generation === undefined) throw new Error(`There is no generation ${name}.`);
			return read(generation, index);
		});
	}

	/** The ids of the chunks that have a term. */
	found(term: string, generation = 'gen_1'): Promise<number[]> {
		return this.read((index) => index.searchKeywords([term], 10).map(({ id }) => id), generation);
	}

	/** The ids of all chunks of a generation. */
	async chunkIds(generation = 'gen_1'): Promise<number[]> {
		return (await this.store.searchIndex.termsAfter(this.id(generation), 0, 1000)).map(({ id }) => id);
	}

	/** The names of documents without what makes their ids unique. */
	name(id: string): string {
		return id.replace(/_t\d+$/, '');
	}
}

/** For `assert.rejects`: whether the error, or a cause of it, has a text. */
export function because(text: string): (error: Error) => boolean {
	return (error) => {
		for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
			if (cause.message.includes(text)) return true;
		}
		return false;
	};
}
