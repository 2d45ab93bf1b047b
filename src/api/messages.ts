import { AppError } from '../base/index.ts';
import type { Operations } from '../contract/index.ts';
import { type Conversations, presentMessage } from '../conversations/index.ts';
import type { Deployments } from '../deployments/index.ts';
import { type Handler, SelfIdempotentHandler } from './call.ts';
import { sendMessage } from './send-message.ts';
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
		sendMessage: new SelfIdempotentHandler((call) => {
			const { caller, body, request } = call;
			return sendMessage<Operations['sendMessage']>(conversations, {
				request,
				body,
				stream: wantsStream(request, body.stream),
				audience: 'api',
				idempotent: call,
				async prepare() {
					const { record } = await deployments.visible(body.deployment_id);
					if (record.workspace_id !== caller.workspaceId) {
						throw new AppError('not_found', 'The deployment does not exist.');
					}
					const { conversation_id, content, metadata } = body;
					return { deployment: record, conversation_id, content, metadata, channel: 'api', end_user: null };
				},
			});
		}),

		rateMessage({ caller, params, body, commit }) {
			const isInWorkspace = ({ workspace_id }: { workspace_id: string }) => workspace_id === caller.workspaceId;
			return commit(conversations.rate(params.id, body, isInWorkspace), presentMessage);
		},
	};
}
