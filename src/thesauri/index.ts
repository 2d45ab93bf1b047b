export { type LoadedThesaurus, openThesauri, type Thesauri } from './thesauri.ts';
