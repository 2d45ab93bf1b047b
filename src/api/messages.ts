import { AppError } from '../base/index.ts';
import type { MessageReply, Operations, WidgetMessageReply } from '../contract/index.ts';
import { type Audience, type Conversations, presentFor, type SentMessage } from '../conversations/index.ts';
import type { Deployments } from '../deployments/index.ts';
import type { EventsReply, HttpRequest } from '../http/index.ts';
import { parsePosition, type StreamPosition } from '../outbox/index.ts';
import { type Handler, RawReply } from './call.ts';

export interface MessageHandlersOptions {
	conversations: Conversations;
	deployments: Deployments;
}

/** Messages: send one, and get the reply whole or as it is written. */
export function messageHandlers({ conversations, deployments }: MessageHandlersOptions): {
	sendMessage: Handler<Operations['sendMessage']>;
} {
	return {
		async sendMessage({ caller, body, request }) {
			const { record } = await deployments.visible(body.deployment_id);
			if (record.workspace_id !== caller.workspaceId) {
				throw new AppError('not_found', 'The deployment does not exist.');
			}
			const { conversation_id, content, metadata } = body;
			const sent = await conversations.send({
				deployment: record,
				conversation_id,
				content,
				metadata,
				channel: 'api',
				end_user: null,
			});
			if (wantsStream(request, body.stream)) {
				return new RawReply(replyStream(conversations, sent, request.signal, 'api'));
			}
			return (await wholeReply(conversations, sent, request.signal, 'api')) as MessageReply;
		},
	};
}

/** Whether the reply is to be streamed: what the body says, else what the Accept header says. */
export function wantsStream(request: HttpRequest, stream: boolean | undefined): boolean {
	return stream ?? request.header('accept')?.includes('text/event-stream') === true;
}

/** The stream of one turn: from the stored question to the end of its reply. */
export function replyStream(
	conversations: Conversations,
	{ reply, position }: SentMessage,
	signal: AbortSignal,
	audience: Audience,
): EventsReply {
	const after = { seq: position, offset: 0 };
	return { events: conversations.follow(reply.conversation_id, { after, signal, audience, until: reply.id }) };
}

/**
 * The reply once it has ended.
 * @throws AppError `model_error` where it failed
 */
export async function wholeReply(
	conversations: Conversations,
	sent: SentMessage,
	signal: AbortSignal,
	audience: Audience,
): Promise<MessageReply | WidgetMessageReply> {
	const reply = await conversations.reply(sent, signal);
	if (reply.status === 'failed') throw new AppError('model_error', reply.error?.message);
	return { ...presentFor(audience, reply), user_message: presentFor(audience, sent.question) } as MessageReply;
}

/** Where a stream is to be resumed: the header that browsers send by themselves, or the query. */
export function resumePoint(request: HttpRequest, query: string | undefined): StreamPosition | null {
	const text = request.header('last-event-id') ?? query;
	return text === undefined || text === '' ? null : parsePosition(text);
}
