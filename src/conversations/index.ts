export type { SentMessage } from './conversation-actor.ts';
export {
	Conversations,
	type ConversationsOptions,
	type EndedTurn,
	type NotedMessage,
	type OutgoingMessage,
} from './conversations.ts';
export type { ConversationEvent } from './event-encoder.ts';
export { type Audience, presentConversation, presentFor, presentForVisitor, presentMessage } from './present.ts';
export { listMessages } from './reply-rounds.ts';
export { Retention, type RetentionOptions } from './retention.ts';
export { endedTurnEvents, notedEvents } from './stream.ts';
