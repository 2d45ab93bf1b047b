export { type GenerationIndex, type Ranking, type SearchOptions, searchGeneration } from './search-generation.ts';
export { Spelling } from './spelling.ts';
