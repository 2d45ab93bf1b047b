import { AppError } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER, type Embedders } from '../../models/index.ts';
import type { Generation, KnowledgeBaseRecord } from '../../store/index.ts';
import type { EmbeddingDependencies } from './embed-generation.ts';
import { embedTexts, int8Of, rowsOf } from './embed-texts.ts';

/** The vectors of a document that is about to be put into an index. */
export interface PreparedVectors {
	/** Whose they are, or would be. */
	embedder: string;
	/** The generation that served when they were made; null where none did. */
	generation: string | null;
	/** Null for the built-in embedder, which needs the index for them, and where they are not to be had. */
	vectors: {
		/** One row of `dimensions` values a chunk. */
		values: Int8Array;
		dimensions: number;
		/** What a basis is opened with; null where the index has one already. */
		opening: { floor: number; sample: Int8Array } | null;
	} | null;
}

/**
 * The embedder that a knowledge base's next document is embedded with: the one whose vectors its index holds. Only an
 * index that holds nothing may begin anew with the server's.
 */
export function embedderFor(generation: Generation | undefined, configured: string): string {
	return generation && generation.chunk_count > 0 ? generation.embedder : configured;
}

/** An embedder has failed with a document. What follows from it depends on whether that embedder is still the index's. */
export class EmbeddingFailure extends AppError {
	readonly embedder: string;

	constructor(embedder: string, { code, message, cause, retry_after }: AppError) {
		super(code, message, { cause, retry_after });
		this.embedder = embedder;
	}
}

/**
 * Whether an embedder's failure says nothing about a document any more: the index takes vectors of another embedder by now,
 * or is being built for another one.
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
 * Asks a provider's embedder for a document's vectors, before the document's turn in the index: that may take minutes, and
 * nothing else shall wait for it. Whether they still fit is for the turn to see.
 * @throws EmbeddingFailure `model_error`; the signal's reason
 */
export async function prepareVectors(
	{ store, embedders, modelIdentity, unsavedVectors, signal }: EmbeddingDependencies & { embedders: Embedders },
	knowledgeBaseId: string,
	title: string,
	{ chunks }: ParsedDocument,
): Promise<PreparedVectors> {
	const generation = await store.searchIndex.servingGeneration(knowledgeBaseId);
	const id = embedderFor(generation, embedders.configured);
	const noVectors: PreparedVectors = { embedder: id, generation: generation?.id ?? null, vectors: null };
	const embedder = id === BUILTIN_EMBEDDER || chunks.length === 0 ? null : embedders.resolve(id);
	if (embedder === null) return noVectors;
	const texts = chunks.map(({ heading_path, text }) => ({ title, heading_path, text }));
	try {
		const basis = generation?.embedder === id ? generation.basis : null;
		// Found by its words, until the index is built anew: beside vectors of another model its own would mean nothing.
		if (generation && basis && !(await modelIdentity.verifyServing(embedder, { ...generation, basis }, signal))) {
			return noVectors;
		}
		const { vectors, dimensions } = await embedTexts({ embedder, unsavedVectors, signal }, texts);
		const opening = basis
			? null
			: { floor: await embedder.floor(signal), sample: int8Of(await embedder.sample(signal)) };
		return { ...noVectors, vectors: { values: rowsOf(vectors, dimensions), dimensions, opening } };
	} catch (error) {
		if (signal.aborted || !(error instanceof AppError)) throw error;
		// The answer may have taken minutes: what is there now decides. An index for another embedder is the way out of this
		// one's failures, and they must not keep the document from it.
		const record = await store.get('knowledge_bases', knowledgeBaseId);
		const serving = await store.searchIndex.servingGeneration(knowledgeBaseId);
		if (record && isSuperseded(id, record, serving, embedders.configured)) return noVectors;
		throw new EmbeddingFailure(id, error);
	}
}
