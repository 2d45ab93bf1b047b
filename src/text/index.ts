export { analyse, queryTerms } from './analyse.ts';
export { detectLanguage } from './language.ts';
export { isContentWord, type QueryWord, queryLanguage, queryWords } from './query-words.ts';
export { sentences } from './sentences.ts';
export { words } from './words.ts';
