export { analyse, queryTerms } from './analyse.ts';
export { detectLanguage } from './language.ts';
export { sentences } from './sentences.ts';
