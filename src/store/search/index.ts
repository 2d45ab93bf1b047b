export { openSearchReader } from './open-search-reader.ts';
export type { FoundChunk, SearchedGeneration, SearchReader, SearchSnapshot } from './search-reader.ts';
