export {
	type Embedded,
	type GenerationIndex,
	type Ranking,
	type SearchOptions,
	searchGeneration,
	type Trained,
} from './search-generation.ts';
export { Spelling } from './spelling.ts';
export { VectorMemory } from './vector-memory.ts';
