export { StaleTerms } from './stale-terms.ts';
export { INBOX_SCHEMA, SEARCH_BY_CHARACTER_SCHEMA } from './tables.ts';
export { applyInboxWrite } from './write.ts';
