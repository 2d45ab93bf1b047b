export { type FoundChunk, type Ranked, SearchReader, type TermRow } from './search-reader.ts';
export type { StoredVectors } from './stored-vectors.ts';
