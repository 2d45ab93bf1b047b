export type { Block, BodyBlock, DocumentSource, ExtractedDocument, HeadingBlock } from './blocks.ts';
export { type ChunkSource, chunkDocument } from './chunking/chunk.ts';
export { SNIFF_BYTES, sniffFormat } from './format.ts';
export { MAX_PAGES, MAX_TEXT_BYTES } from './limits.ts';
export { parseDocument } from './parse.ts';
export { unsupportedFileMessage } from './unsupported.ts';
