export {
	type EmbeddedQuery,
	type GenerationIndex,
	type RankedHit,
	type SearchOptions,
	type SearchQuery,
	searchGeneration,
	type TrainedVectors,
} from './search-generation.ts';
export { SpellingCorrector } from './spelling-corrector.ts';
export { withSynonyms } from './synonyms.ts';
