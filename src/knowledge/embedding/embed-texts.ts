import type { Embedder } from '../../models/index.ts';
import { writeInt8 } from '../semantic/index.ts';
import { requireDimensions } from './dimensions.ts';

/** Texts whose vectors are held as they come, four bytes a value; of all others there is one byte. */
export const PAGE = 256;

/** What an embedder that reads texts is told of a chunk. */
export interface ChunkText {
	/** The document's. */
	title: string;
	heading_path: readonly string[];
	text: string;
}

/** A passage says what it is about where its title and headings stand above it. */
function textOf({ title, heading_path, text }: ChunkText): string {
	const above = heading_path[0] === title ? heading_path : [title, ...heading_path];
	return `${above.filter((one) => one !== '').join(' › ')}\n\n${text}`;
}

/**
 * The vectors of chunks, one row of `dimensions` values each, in the eight bits in which they are stored.
 * @throws AppError `model_error`; the signal's reason
 */
export async function embedTexts(
	embedder: Embedder,
	chunks: readonly ChunkText[],
	signal: AbortSignal,
): Promise<{ vectors: Int8Array; dimensions: number }> {
	let vectors = new Int8Array(0);
	let dimensions = 0;
	for (let at = 0; at < chunks.length; at += PAGE) {
		const page = await embedder.embedDocuments(chunks.slice(at, at + PAGE).map(textOf), signal);
		if (at === 0) {
			dimensions = page[0]?.length ?? 0;
			vectors = new Int8Array(chunks.length * dimensions);
		}
		for (const [row, vector] of page.entries()) {
			requireDimensions(embedder.id, vector.length, dimensions);
			writeInt8(vector, vectors, (at + row) * dimensions);
		}
	}
	return { vectors, dimensions };
}
