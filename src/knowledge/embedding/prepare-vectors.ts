import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER, type Embedders } from '../../models/index.ts';
import type { Generation, Store } from '../../store/index.ts';
import { embedTexts } from './embed-texts.ts';

/** The vectors of a document that is about to be put into an index. */
export interface PreparedVectors {
	/** Whose they are, or would be. */
	embedder: string;
	/** Null for the built-in embedder, which needs the index for them, and where they are not to be had. */
	vectors: {
		/** One row of `dimensions` values a chunk. */
		values: Int8Array;
		dimensions: number;
		/** Of the embedder; null where the index has it already. */
		floor: number | null;
	} | null;
}

/**
 * The embedder that a knowledge base's next document is embedded with: the one whose vectors its index holds. Only an
 * index that holds nothing may begin anew with the server's.
 */
export function embedderFor(generation: Generation | undefined, configured: string): string {
	return generation && generation.chunk_count > 0 ? generation.embedder : configured;
}

/**
 * Asks a provider's embedder for a document's vectors, before the document's turn in the index: that may take minutes, and
 * nothing else shall wait for it. Whether they still fit is for the turn to see.
 * @throws AppError `model_error`; the signal's reason
 */
export async function prepareVectors(
	{ store, embedders, signal }: { store: Store; embedders: Embedders; signal: AbortSignal },
	knowledgeBaseId: string,
	title: string,
	{ chunks }: ParsedDocument,
): Promise<PreparedVectors> {
	const generation = await store.servingGeneration(knowledgeBaseId);
	const id = embedderFor(generation, embedders.configured);
	const embedder = id === BUILTIN_EMBEDDER || chunks.length === 0 ? null : embedders.resolve(id);
	if (embedder === null) return { embedder: id, vectors: null };
	const texts = chunks.map(({ heading_path, text }) => ({ title, heading_path, text }));
	try {
		const { vectors: values, dimensions } = await embedTexts(embedder, texts, signal);
		const hasBasis = generation?.embedder === id && generation.basis !== null;
		return { embedder: id, vectors: { values, dimensions, floor: hasBasis ? null : await embedder.floor(signal) } };
	} catch (error) {
		// The index that is being built for another embedder is the way out of this one's failures: they must not keep the
		// document from it.
		const rebuilding = (await store.get('knowledge_bases', knowledgeBaseId))?.rebuilding ?? null;
		if (signal.aborted || id === embedders.configured || rebuilding === null) throw error;
		return { embedder: id, vectors: null };
	}
}
