export { type FoundChunk, type RankedChunk, SearchReader, type TermRow } from './search-reader.ts';
export type { StoredVectors } from './stored-vectors.ts';
