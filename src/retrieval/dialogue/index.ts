export {
	type Dialogue,
	type DialogueContext,
	dialogueContext,
	dialogueQuery,
	textInContext,
} from './dialogue-query.ts';
