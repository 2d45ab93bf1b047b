export type { SentMessage } from './conversation-actor.ts';
export { Conversations, type ConversationsOptions, type OutgoingMessage } from './conversations.ts';
export { type Audience, presentConversation, presentFor, presentMessage } from './present.ts';
export type { ConversationEvent } from './stream.ts';
