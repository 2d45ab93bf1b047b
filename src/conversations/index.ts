export type { RunningTurn } from './conversation-actor.ts';
export {
	Conversations,
	type ConversationsOptions,
	type FinishedTurn,
	type MessageForHuman,
	type OutgoingMessage,
} from './conversations.ts';
export type { ConversationEvent } from './event-encoder.ts';
export { type Audience, presentConversation, presentFor, presentForVisitor, presentMessage } from './present.ts';
export { listMessages } from './reply-rounds.ts';
export { Retention, type RetentionOptions } from './retention.ts';
export { finishedTurnEvents, messageForHumanEvents } from './stream.ts';
