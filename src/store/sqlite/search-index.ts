export { chunksOfDocument, generationOf } from './search-index-read.ts';
export { SEARCH_INDEX_SCHEMA } from './search-index-tables.ts';
export { applyIndexWrite } from './search-index-write.ts';
