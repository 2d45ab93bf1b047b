import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER, type Embedders } from '../../models/index.ts';
import type { DocumentRecord, Generation, KnowledgeBaseRecord, Store } from '../../store/index.ts';
import type { EmbeddingDependencies } from './embed-generation.ts';
import { type ChunkText, embedTexts, int8Of, keepUnsaved, rowsOf, textOf } from './embed-texts.ts';
import type { UnsavedVectors } from './unsaved-vectors.ts';

/** The vectors of a document that is about to be indexed. */
export interface PreparedVectors {
	/** The id of the embedder. */
	embedder: string;
	/** The generation that served when they were made; null if none did. */
	generation: string | null;
	/** Null for the built-in embedder, which needs the index to make them, and if the provider gives none. */
	vectors: {
		/** One row of `dimensions` values for each chunk. */
		values: Int8Array;
		dimensions: number;
		/** The values that open a basis; null if the index has a basis already. */
		opening: { floor: number; sample: Int8Array } | null;
	} | null;
}

/**
 * The embedder for a knowledge base's next document: the embedder of the vectors in its index. Only an empty index may
 * change to the server's embedder.
 */
export function embedderFor(generation: Generation | undefined, configured: string): string {
	return generation && generation.chunk_count > 0 ? generation.embedder : configured;
}

/** An embedder has failed with a document. The consequence depends on whether the index still uses that embedder. */
export class EmbeddingFailure extends AppError {
	readonly embedder: string;

	constructor(embedder: string, { code, message, cause, retry_after }: AppError) {
		super(code, message, { cause, retry_after });
		this.embedder = embedder;
	}
}

/**
 * Whether an embedder's failure no longer concerns a document: the index uses another embedder by now, or is being rebuilt
 * for another one.
 * @param serving the generation that serves the knowledge base, read no earlier than the record
 */
export function isSuperseded(
	embedder: string,
	{ rebuilding }: Pick<KnowledgeBaseRecord, 'rebuilding'>,
	serving: Generation | undefined,
	configured: string,
): boolean {
	return embedderFor(serving, configured) !== embedder || (rebuilding !== null && embedder !== configured);
}

/**
 * Requests a document's vectors from a provider's embedder before the document holds the index lock: the call may take
 * minutes, and nothing else may wait for it. The holder of the lock checks whether they still match the index.
 * @throws EmbeddingFailure `model_error`; the signal's reason
 */
export async function prepareVectors(
	{ store, embedders, modelIdentity, unsavedVectors, signal }: EmbeddingDependencies & { embedders: Embedders },
	{ id: documentId, knowledge_base_id: knowledgeBaseId }: Pick<DocumentRecord, 'id' | 'knowledge_base_id'>,
	title: string,
	{ chunks }: ParsedDocument,
): Promise<PreparedVectors> {
	const generation = await store.searchIndex.servingGeneration(knowledgeBaseId);
	const id = embedderFor(generation, embedders.configured);
	const noVectors: PreparedVectors = { embedder: id, generation: generation?.id ?? null, vectors: null };
	const embedder = id === BUILTIN_EMBEDDER || chunks.length === 0 ? null : embedders.resolve(id);
	if (embedder === null) return noVectors;
	const texts = chunkTexts(title, chunks);
	try {
		const basis = generation?.embedder === id ? generation.basis : null;
		// Full text finds the document until the index is rebuilt: its vectors could not be compared with those of another model.
		if (generation && basis && !(await modelIdentity.verifyServing(embedder, { ...generation, basis }, signal))) {
			return noVectors;
		}
		const formerVectors =
			generation && basis ? await formerVectorsOf(store, { ...generation, basis }, documentId) : undefined;
		const context = { embedder, unsavedVectors, signal, ...(formerVectors ? { formerVectors } : {}) };
		const { vectors, dimensions } = await embedTexts(context, texts);
		const opening = basis
			? null
			: { floor: await embedder.floor(signal), sample: int8Of(await embedder.sample(signal)) };
		return { ...noVectors, vectors: { values: rowsOf(vectors, dimensions), dimensions, opening } };
	} catch (error) {
		if (signal.aborted || !(error instanceof AppError)) throw error;
		// The call may have taken minutes: the present index decides. An index for another embedder does not depend on this
		// embedder's failures, and they must not keep the document out of it.
		const record = await store.get('knowledge_bases', knowledgeBaseId);
		const serving = await store.searchIndex.servingGeneration(knowledgeBaseId);
		if (record && isSuperseded(id, record, serving, embedders.configured)) return noVectors;
		throw new EmbeddingFailure(id, error);
	}
}

/** Keeps vectors that could not be stored for the next attempt, because a provider has been paid for them. */
export function keepPrepared(
	unsavedVectors: UnsavedVectors,
	{ embedder, vectors }: PreparedVectors,
	title: string,
	{ chunks }: ParsedDocument,
): void {
	if (vectors === null) return;
	const { values, dimensions } = vectors;
	const rows = chunks.map((_, row) => values.slice(row * dimensions, (row + 1) * dimensions));
	keepUnsaved({ embedder: { id: embedder }, unsavedVectors }, chunkTexts(title, chunks), rows);
}

function chunkTexts(title: string, chunks: ParsedDocument['chunks']): ChunkText[] {
	return chunks.map(({ heading_path, text }) => ({ title, heading_path, text }));
}

/** Chunks that are read at once. It bounds the time that the main thread is blocked. */
const PAGE_SIZE = 100;

/** The vectors of a document's former content, by the text that the embedder read: a changed page is mostly the same. */
async function formerVectorsOf(
	{ searchIndex }: Pick<Store, 'searchIndex'>,
	{ id, basis }: { id: string; basis: string },
	documentId: string,
): Promise<Map<string, Int8Array>> {
	const vectors = new Map<string, Int8Array>();
	for (let after = -1; ; ) {
		const page = await searchIndex.embeddedTexts(id, basis, documentId, after, PAGE_SIZE);
		for (const text of page) if (text.vector.length > 0) vectors.set(textOf(text), text.vector);
		const last = page.at(-1);
		if (!last || page.length < PAGE_SIZE) return vectors;
		after = last.position;
		await yieldToEventLoop();
	}
}
