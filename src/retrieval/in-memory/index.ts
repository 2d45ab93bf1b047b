export type { ScoredChunk } from './best-chunks.ts';
export { type CollectionTotals, InvertedIndex } from './inverted-index.ts';
export { MutableVectorIndex } from './mutable-vector-index.ts';
export { VectorIndexCache } from './vector-index-cache.ts';
