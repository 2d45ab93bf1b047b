export { type Dialogue, dialogueQuery, dialogueText, recentMessages } from './dialogue-query.ts';
