import { useLive } from '../../api/live.ts';

const TYPES = ['conversation.created', 'conversation.updated', 'conversation.closed', 'message.created'] as const;

/** Calls the listener with the id of each conversation in which something happens, while the page is shown. */
export function useLiveConversations(onChange: (conversationId: string) => void): void {
	useLive(TYPES, ({ data }) => onChange('conversation_id' in data ? data.conversation_id : data.id));
}
