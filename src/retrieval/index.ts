export { STRONG_SEMANTIC_WEIGHT, WEAK_SEMANTIC_WEIGHT } from './chosen-weights.ts';
export {
	type Dialogue,
	type DialogueContext,
	dialogueContext,
	dialogueQuery,
	textInContext,
} from './dialogue/index.ts';
export { InvertedIndex, MutableVectorIndex, VectorIndexCache } from './in-memory/index.ts';
export { distinctPassages, textAfter, textBefore } from './passages/index.ts';
export {
	type EmbeddedQuery,
	type GenerationIndex,
	type RankedHit,
	type SearchOptions,
	SpellingCorrector,
	searchGeneration,
	type TrainedVectors,
	withSynonyms,
} from './ranking/index.ts';
export {
	type Basis,
	type ChunkTerms,
	countTerms,
	deserialiseBasis,
	embedChunks,
	inverseFrequency,
	type Projection,
	project,
	serialiseBasis,
	writeInt8,
} from './semantic/index.ts';
