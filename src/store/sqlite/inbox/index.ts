export { INBOX_SCHEMA } from './tables.ts';
export { applyInboxWrite } from './write.ts';
