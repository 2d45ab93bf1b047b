import type { PendingMessage } from '../transport/conversation-storage.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import type { DeliveryOptions } from './delivery-options.ts';
import type { DisplayedMessage } from './transcript.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Makes the local id of a failed reply from the key of its message: the server has sent neither id. */
const FAILED_REPLY_SUFFIX = '!';

/** Whether the event confirms that the sent message is stored. */
export function acknowledge(
	{ conversation, emit }: DeliveryOptions,
	pending: PendingMessage,
	{ event, data }: ServerSentEvent,
): boolean {
	if (event !== 'message.created') return false;
	const { message } = JSON.parse(data);
	if (message.role !== 'user') return false;
	conversation.transcript.remove(pending.key + FAILED_REPLY_SUFFIX);
	if (conversation.store(pending, message.id, message.conversation_id)) emit('message', { message });
	return true;
}

/** The model failed in a request without streaming. The message is stored, but the response has no id. */
export async function showFailedReply(
	{ conversation, load, announce }: DeliveryOptions,
	pending: PendingMessage,
	signal: AbortSignal,
): Promise<void> {
	const { transcript } = conversation;
	const { key, content, message } = pending;
	const before = transcript.list().map(({ id }) => id);
	const isLoaded =
		pending.conversation !== null &&
		(await load(pending.conversation, signal).then(
			() => true,
			() => false,
		));
	if (signal.aborted) return;
	const isSentMessage = (one: DisplayedMessage) =>
		one.role === 'user' && one.content === content && !before.includes(one.id);
	const stored = transcript.list().find(isSentMessage);
	if (stored) conversation.store(pending, stored.id, pending.conversation as string);
	else if (!message) transcript.fail(key, key + FAILED_REPLY_SUFFIX);
	else showReplyAsFailed(conversation, message);
	if (!isLoaded) announce({ stringKey: 'failed' });
}

/** Shows a message as unsent. Where it was a retry of a failed reply, the reply is shown as failed again. */
export function showUnsent(conversation: Conversation, { key, message }: PendingMessage): void {
	const { transcript } = conversation;
	transcript.change(key, { status: 'unsent' });
	transcript.remove(key + FAILED_REPLY_SUFFIX);
	if (message) showReplyAsFailed(conversation, message);
}

function showReplyAsFailed({ transcript }: Conversation, message: string): void {
	const list = transcript.list();
	const reply = list[list.findIndex(({ id }) => id === message) + 1];
	if (reply?.role === 'assistant') transcript.change(reply.id, { status: 'failed' });
}
