export { applyInboxWrite } from './write.ts';
