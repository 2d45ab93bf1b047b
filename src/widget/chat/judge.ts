import type { WidgetEvents } from '../public.d.ts';
import { Refusal, type Requests } from '../transport/requests.ts';
import type { Conversation } from './conversation.ts';
import type { Notices } from './notices.ts';

export interface JudgeOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** What a no of the server means: whether asking again later may help, and what the visitor is told. */
export type Judge = ReturnType<typeof createJudge>;

export function createJudge({ requests, conversation, notices, emit }: JudgeOptions) {
	/** Whether it is the conversation that is gone; false where it is the deployment, which may come back; null: not known. */
	const isForgotten = async (): Promise<boolean | null> => {
		try {
			await requests.config();
			return true;
		} catch (error) {
			if (!(error instanceof Refusal && error.status === 404)) return null;
			notices.note('gone');
			return false;
		}
	};

	return {
		isForgotten,
		/** Whether asking again later may help; where not, the visitor is told why. */
		async isTemporary({ status, code }: Refusal): Promise<boolean> {
			if (status === 429 || status >= 500) return true;
			if (status === 401) {
				notices.note('signIn');
				emit('unauthorized', {});
			} else if (status === 403) notices.note('forbidden');
			else if (code === 'conversation_archived') notices.note('closed');
			else if (code === 'assistant_archived') notices.note('gone');
			else if (status === 404 && conversation.id()) {
				const isGone = await isForgotten();
				if (isGone === null) return true;
				if (isGone) {
					const wasShown = conversation.transcript.list().length > 0;
					conversation.forget();
					if (wasShown) notices.note('closed');
				}
			} else if (status === 404) notices.note('gone');
			return false;
		},
	};
}
