export { Conversations, type ConversationsOptions } from './conversations.ts';
export type { ConversationEvent } from './event-encoder.ts';
export {
	type Audience,
	presentConversation,
	presentFor,
	presentForVisitor,
	presentMessage,
	presentNote,
} from './present.ts';
export { listMessages } from './reply-rounds.ts';
export { Retention, type RetentionOptions } from './retention.ts';
export { finishedTurnEvents, messageForHumanEvents } from './stream.ts';
export type { OutgoingMessage } from './target-conversation.ts';
export type { FinishedTurn, MessageForHuman, RunningTurn } from './turn-result.ts';
