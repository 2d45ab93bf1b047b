export {
	type Acronym,
	definedAcronyms,
	generalVariants,
	type SpellingVariants,
	spellAcronyms,
	variantsOf,
	withVariants,
} from './acronyms.ts';
export { analyse, queryTerms } from './analyse.ts';
export { detectLanguage } from './language.ts';
export type { QueryWord } from './query-word.ts';
export { isContentWord, queryLanguage, queryWords } from './query-words.ts';
export { sentences } from './sentences.ts';
export { stemmerOf } from './stem.ts';
export { words } from './words.ts';
