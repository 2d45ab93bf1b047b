export { applyIndexWrite } from './apply-index-write.ts';
export { dropGenerationsOf } from './generations.ts';
export { PostgresSearchReader } from './search-reader.ts';
