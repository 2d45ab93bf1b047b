export { applyIndexWrite } from './apply-index-write.ts';
export { eraseDroppedIndexes, hasDroppedIndexes } from './dropped-indexes.ts';
export { dropGenerationsOf } from './generations.ts';
export { PostgresSearchReader } from './search-reader.ts';
