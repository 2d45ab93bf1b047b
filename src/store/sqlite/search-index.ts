export {
	repairLanguages,
	SEARCH_INDEX_CHANGES,
	SEARCH_INDEX_EMBEDDERS,
	SEARCH_INDEX_REBUILD,
	SEARCH_INDEX_SAMPLES,
	SEARCH_INDEX_SCHEMA,
} from './search-index-tables.ts';
export { applyIndexWrite, dropGenerationsOf } from './search-index-write.ts';
