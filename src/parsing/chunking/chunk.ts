import { AppError } from '../../base/index.ts';
import type { ParsedChunk } from '../../contract/index.ts';
import { analyse } from '../../text/index.ts';
import type { Block } from '../blocks.ts';
import { pack, textOf } from './pack.ts';
import { piecesOf } from './pieces.ts';
import { sectionsOf } from './sections.ts';

/** Characters of all chunks with their headings and terms. 10 MB of text give 20 to 40 million. */
const MAX_CHUNK_CHARACTERS = 80_000_000;
/** The cost of a chunk beside its characters. */
const CHUNK_OVERHEAD_CHARACTERS = 500;

/** The input of the chunker. */
export interface ChunkSource {
	/** Its title, whose terms every chunk has. */
	title: string | null;
	/** ISO 639-1; null where unknown. */
	language: string | null;
	blocks: Block[];
}

/**
 * Cuts a document along its headings and sentences into chunks of about 200–300 words. Within a section each chunk
 * repeats the last sentence or two of the previous one. No chunk crosses a heading, but tiny neighbouring sections are
 * joined under the heading that they share.
 * @throws AppError `resource_limit` if repeated headings make the chunks many times larger than the document
 */
export function chunkDocument({ title, language, blocks }: ChunkSource): ParsedChunk[] {
	const chunks: ParsedChunk[] = [];
	let characters = 0;
	for (const { path, blocks: body } of sectionsOf(blocks)) {
		const names = title === null || path[0] === title ? path : [title, ...path];
		const title_terms = analyse(names.join('\n'), language).join(' ');
		for (const pieces of pack(piecesOf(body, language))) {
			const text = textOf(pieces);
			// A heading that repeats the title and has no content answers no question.
			if (path.length === 0 && text === title && chunks.length === 0 && blocks.length > 1) continue;
			const body_terms = analyse(text, language).join(' ');
			chunks.push({ text, heading_path: path, page: pieces[0]?.page ?? null, title_terms, body_terms });
			characters +=
				text.length + path.join('').length + title_terms.length + body_terms.length + CHUNK_OVERHEAD_CHARACTERS;
			if (characters > MAX_CHUNK_CHARACTERS) throw new AppError('resource_limit', TOO_MANY_HEADINGS);
		}
	}
	return chunks;
}

const TOO_MANY_HEADINGS =
	'The document has too many long headings within each other: they are kept with each passage. Split it into smaller files.';
