import type { WidgetEvents } from '../public.d.ts';
import { backoff } from '../transport/backoff.ts';
import { ApiError, type Requests } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import type { Notices } from './notices.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Where the server does not say (s). */
const DEFAULT_RETRY_SECONDS = 5;

export interface ApiErrorHandlerOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	/** Ends with the chat. */
	signal: AbortSignal;
	/** What waits may go now. */
	drain(): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** What a no of the server means: whether asking again later may help, and what the visitor is told. */
export type ApiErrorHandler = ReturnType<typeof createApiErrorHandler>;

export function createApiErrorHandler({
	requests,
	conversation,
	notices,
	signal,
	drain,
	emit,
}: ApiErrorHandlerOptions) {
	/** Whether it is the conversation that is gone; false where it is the deployment, which may come back; null: not known. */
	const isConversationGone = async (): Promise<boolean | null> => {
		try {
			await requests.config();
			return true;
		} catch (error) {
			if (!(error instanceof ApiError && error.status === 404)) return null;
			notices.show('gone');
			return false;
		}
	};

	/** A page that has nothing but tokens that are refused is not asked as fast as it answers. */
	const askForToken = async () => {
		const showError = requests.refusedTokens_();
		if (showError > 1) await sleep(backoff(showError), signal);
		if (!signal.aborted && notices.is('signIn')) emit('unauthorized', {});
	};
	/** Whether asking again later may help; where not, the visitor is told why. */
	const isTemporary = async ({ status, code }: ApiError): Promise<boolean> => {
		if (status === 429 || status >= 500) return true;
		if (status === 401) {
			const isAsked = notices.is('signIn');
			notices.show('signIn');
			if (!isAsked) void askForToken();
		} else if (status === 403) notices.show('forbidden');
		else if (code === 'conversation_archived') notices.show('closed');
		else if (code === 'assistant_archived') notices.show('gone');
		else if (status === 404 && conversation.id()) {
			const isGone = await isConversationGone();
			if (isGone === null) return true;
			if (isGone) {
				const wasShown = conversation.transcript.list().length > 0;
				conversation.forget();
				if (wasShown) notices.show('closed');
			}
		} else if (status === 404) notices.show('gone');
		return false;
	};
	/** What is not tried again by itself was refused. */
	const showError = ({ status, code, retryAfter }: ApiError) => {
		emit('error', { status, code });
		if (status === 429) notices.showRateLimit_((retryAfter || DEFAULT_RETRY_SECONDS) * 1000, drain);
		else if (!notices.isBlocking_()) notices.show('trouble');
	};

	return {
		isConversationGone_: isConversationGone,
		isTemporary_: isTemporary,
		showError_: showError,
		/** What was asked for in passing did not work: the visitor is told why. */
		async handle(error: unknown): Promise<void> {
			if (error instanceof ApiError && (error.status === 429 || !(await isTemporary(error)))) showError(error);
			else if (!notices.isBlocking_()) notices.show('trouble');
		},
	};
}
