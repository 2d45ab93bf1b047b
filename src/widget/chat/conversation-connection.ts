import type { ServerSentEvent } from '../transport/event-stream.ts';
import type { Requests } from '../transport/requests.ts';
import type { ApiErrorHandler, ApiErrorHandlerOptions } from './api-error-handler.ts';
import type { Notices } from './notices.ts';
import type { Conversation } from './visitor-conversation.ts';

/** What sending messages and following a conversation both need. */
export interface ConversationConnection {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	errorHandler: ApiErrorHandler;
	emit: ApiErrorHandlerOptions['emit'];
	streaming: boolean;
	onEvent(event: ServerSentEvent): void;
}
