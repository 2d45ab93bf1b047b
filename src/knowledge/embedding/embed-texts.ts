import { type Embedder, isProviderFailure } from '../../models/index.ts';
import { writeInt8 } from '../../retrieval/index.ts';
import { requireDimensions } from './dimensions.ts';
import type { UnsavedVectors } from './unsaved-vectors.ts';

/** Texts of one call. Results may come in any order; each is held until all before it have come. */
export const PAGE_SIZE = 256;

/** The parts of a chunk that an embedder of texts reads. */
export interface ChunkText {
	/** The document's. */
	title: string;
	heading_path: readonly string[];
	text: string;
}

/** The embedder, and vectors that it has made already. */
export interface EmbeddingContext {
	embedder: Embedder;
	unsavedVectors: UnsavedVectors;
	/** Vectors of the document's former content, by `textOf`. */
	formerVectors?: ReadonlyMap<string, Int8Array>;
	signal: AbortSignal;
}

/** Title and headings before the text tell the model what the passage is about. */
export function textOf({ title, heading_path, text }: ChunkText): string {
	const headings = heading_path[0] === title ? heading_path : [title, ...heading_path];
	return `${headings.filter((one) => one !== '').join(' › ')}\n\n${text}`;
}

/**
 * The vectors of chunks, quantised to eight bits as they are stored.
 * @throws AppError `model_error`; the signal's reason
 */
export async function embedTexts(
	context: EmbeddingContext,
	chunks: readonly ChunkText[],
): Promise<{ vectors: Int8Array[]; dimensions: number }> {
	const vectors: Int8Array[] = [];
	try {
		for (let at = 0; at < chunks.length; at += PAGE_SIZE) {
			for await (const batch of embedPage(context, chunks.slice(at, at + PAGE_SIZE))) {
				for (const { index, vector } of batch) vectors[at + index] = vector;
			}
		}
	} catch (error) {
		if (isProviderFailure(error)) keepUnsaved(context, chunks, vectors);
		throw error;
	}
	const dimensions = vectors[0]?.length ?? 0;
	for (const { length } of vectors) requireDimensions(context.embedder.id, length, dimensions);
	return { vectors, dimensions };
}

/** The vector of one of several chunks. */
export interface ChunkVector {
	/** Of the chunk among them. */
	index: number;
	vector: Int8Array;
}

/**
 * The vectors of a page of chunks in order of completion: vectors made before come at once, all others batch by batch.
 * @throws AppError `model_error`; the signal's reason
 */
export async function* embedPage(
	{ embedder, unsavedVectors, formerVectors, signal }: EmbeddingContext,
	chunks: readonly ChunkText[],
): AsyncGenerator<ChunkVector[], void, undefined> {
	const knownVectors: ChunkVector[] = [];
	const missing: Array<{ place: number; text: string }> = [];
	for (const [index, chunk] of chunks.entries()) {
		const text = textOf(chunk);
		const vector = formerVectors?.get(text) ?? unsavedVectors.take(embedder.id, text);
		if (vector) knownVectors.push({ index, vector });
		else missing.push({ place: index, text });
	}
	if (knownVectors.length > 0) yield knownVectors;
	const texts = missing.map(({ text }) => text);
	if (texts.length === 0) return;
	for await (const { offset, vectors } of embedder.embedDocuments(texts, signal)) {
		yield vectors.map((vector, row) => ({ index: missing[offset + row]?.place as number, vector: int8Of(vector) }));
	}
}

/** Keeps the vectors that were made for the next attempt. Missing vectors leave their index empty. */
export function keepUnsaved(
	{ embedder, unsavedVectors }: { embedder: Pick<Embedder, 'id'>; unsavedVectors: UnsavedVectors },
	chunks: readonly ChunkText[],
	vectors: ReadonlyArray<Int8Array | undefined>,
): void {
	for (const [index, chunk] of chunks.entries()) {
		const vector = vectors[index];
		if (vector) unsavedVectors.keep(embedder.id, textOf(chunk), vector);
	}
}

/** Concatenates the rows, as the index stores them. */
export function rowsOf(vectors: readonly Int8Array[], dimensions: number): Int8Array {
	const rows = new Int8Array(vectors.length * dimensions);
	for (const [row, vector] of vectors.entries()) rows.set(vector, row * dimensions);
	return rows;
}

/** A vector, quantised to eight bits as it is stored. */
export function int8Of(vector: Float32Array): Int8Array {
	const bytes = new Int8Array(vector.length);
	writeInt8(vector, bytes, 0);
	return bytes;
}
