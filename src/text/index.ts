export { analyse, queryTerms } from './analyse.ts';
export { detectLanguage } from './language.ts';
export { type QueryWord, queryWords } from './query-words.ts';
export { sentences } from './sentences.ts';
