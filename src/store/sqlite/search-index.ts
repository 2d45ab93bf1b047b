export { coverageOf, generationOf, servingChunksOf, servingGenerationOf, termsAfter } from './search-index-read.ts';
export { SEARCH_INDEX_REBUILD, SEARCH_INDEX_SCHEMA } from './search-index-tables.ts';
export { applyIndexWrite, dropGenerationsOf } from './search-index-write.ts';
