import { AppError } from '../base/index.ts';
import type { MessageReply, Operations, WidgetMessageReply } from '../contract/index.ts';
import {
	type Audience,
	type Conversations,
	type FinishedTurn,
	finishedTurnEvents,
	type MessageForHuman,
	messageForHumanEvents,
	presentFor,
	presentMessage,
	type RunningTurn,
} from '../conversations/index.ts';
import type { Deployments } from '../deployments/index.ts';
import type { HttpRequest } from '../http/index.ts';
import type { MessageRecord } from '../store/index.ts';
import { type Handler, RawResponse, SelfIdempotentHandler } from './call.ts';
import { fingerprintOf } from './idempotent-call.ts';
import { wantsStream } from './stream-request.ts';

export interface MessageHandlersOptions {
	conversations: Conversations;
	deployments: Deployments;
}

/** Messages: send one and get the reply whole or as it is written, rate one. */
export function messageHandlers({ conversations, deployments }: MessageHandlersOptions): {
	[K in 'sendMessage' | 'rateMessage']: Handler<Operations[K]>;
} {
	return {
		sendMessage: new SelfIdempotentHandler(({ caller, body, request, runIdempotently }) => {
			const respond = (turn: RunningTurn | FinishedTurn | MessageForHuman) =>
				turnResponse(conversations, turn, request, body.stream, 'api') as Promise<MessageReply | RawResponse>;
			return runIdempotently(
				() => fingerprintOf(body),
				async (claim) => {
					const { record } = await deployments.visible(body.deployment_id);
					if (record.workspace_id !== caller.workspaceId) {
						throw new AppError('not_found', 'The deployment does not exist.');
					}
					const { conversation_id, content, metadata } = body;
					const turn = await conversations.send({
						deployment: record,
						conversation_id,
						content,
						metadata,
						channel: 'api',
						end_user: null,
						receipt: claim?.receiptKey(),
					});
					claim?.releaseEarly();
					return respond(turn);
				},
				async (pending, claim) => {
					const turn = await conversations.joinRepeat(pending);
					claim.releaseEarly();
					return respond(turn);
				},
			);
		}),

		async rateMessage({ caller, params, body, receipt }) {
			const isInWorkspace = ({ workspace_id }: { workspace_id: string }) => workspace_id === caller.workspaceId;
			const rated = await conversations.rate(params.id, body, isInWorkspace, (message: MessageRecord) =>
				receipt(presentMessage(message)),
			);
			return presentMessage(rated);
		},
	};
}

/**
 * The answer to a message: the stream of its turn, or the whole reply once it has ended.
 * @throws AppError `model_error` where a whole reply failed
 */
export async function turnResponse(
	conversations: Conversations,
	turn: RunningTurn | FinishedTurn | MessageForHuman,
	request: HttpRequest,
	stream: boolean | undefined,
	audience: Audience,
): Promise<RawResponse | MessageReply | WidgetMessageReply> {
	if (!('messageForHuman' in turn))
		request.addLogFields({ message: 'finishedReply' in turn ? turn.finishedReply.id : turn.reply.id });
	if (wantsStream(request, stream)) {
		if ('messageForHuman' in turn) return new RawResponse({ events: messageForHumanEvents(turn, audience) });
		const events =
			'finishedReply' in turn
				? finishedTurnEvents(turn, audience)
				: conversations.followTurn(turn, { signal: request.signal, audience });
		return new RawResponse({ events });
	}
	if ('messageForHuman' in turn) {
		// A person has the conversation: the answer is the message itself, and theirs comes when it does.
		const noted = presentFor(audience, turn.messageForHuman);
		return { ...noted, user_message: noted } as MessageReply;
	}
	const reply = 'finishedReply' in turn ? turn.finishedReply : await conversations.reply(turn, request.signal);
	if (reply.status === 'failed') throw new AppError('model_error', reply.error?.message);
	// As it was when it ended: a rating given since belongs to the message, not to this answer.
	const asAnswered = { ...reply, feedback: null, feedback_comment: null };
	return { ...presentFor(audience, asAnswered), user_message: presentFor(audience, turn.question) } as MessageReply;
}
