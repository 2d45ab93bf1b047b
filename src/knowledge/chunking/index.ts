export { type ChunkSource, chunkDocument } from './chunk.ts';
