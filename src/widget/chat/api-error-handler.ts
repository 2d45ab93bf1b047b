import type { WidgetEvents } from '../public.d.ts';
import { backoff } from '../transport/backoff.ts';
import { ApiError, type Requests } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import type { Notices } from './notices.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Used where the server names no time (s). */
const DEFAULT_RETRY_SECONDS = 5;

export interface ApiErrorHandlerOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	/** Aborts when the chat is destroyed. */
	signal: AbortSignal;
	/** Sends what waits in the queue. */
	drain(): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** Decides for an error of the API whether a retry may help, and shows the visitor a notice. */
export type ApiErrorHandler = ReturnType<typeof createApiErrorHandler>;

export function createApiErrorHandler({
	requests,
	conversation,
	notices,
	signal,
	drain,
	emit,
}: ApiErrorHandlerOptions) {
	/** True: the conversation is gone. False: the deployment is gone, and may come back. Null: unknown. */
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

	/** Asks the page for a token. Waits longer after each refused token, so that a page with bad tokens causes no request loop. */
	const askForToken = async () => {
		const refusals = requests.refusedTokens_();
		if (refusals > 1) await sleep(backoff(refusals), signal);
		if (!signal.aborted && notices.is('signIn')) emit('unauthorized', {});
	};
	/** Whether a retry may help. Where it cannot, shows the visitor why. A limit (429) is not temporary: `showError_` shows it. */
	const isTemporary = async ({ status, code }: ApiError): Promise<boolean> => {
		if (status >= 500) return true;
		if (status === 401) {
			const isAsked = notices.is('signIn');
			notices.show('signIn');
			if (!isAsked) void askForToken();
		} else if (status === 403) notices.show('forbidden');
		else if (code === 'conversation_archived') notices.show('closed');
		else if (code === 'assistant_archived') notices.show('gone');
		// With the second code the message was stored, and its conversation erased since.
		else if (status === 404 || code === 'idempotency_key_reused') {
			const isGone = await isConversationGone();
			if (isGone) {
				if (conversation.transcript.list()[0]) notices.show('closed');
				conversation.forget();
			}
			return isGone === null;
		}
		return false;
	};
	/** Reports an error that is not retried. */
	const showError = ({ status, code, retryAfter }: ApiError) => {
		emit('error', { status, code });
		if (status === 429) notices.showRateLimit_((retryAfter || DEFAULT_RETRY_SECONDS) * 1000, drain);
		else if (!notices.isBlocking_()) notices.show('trouble');
	};

	return {
		isConversationGone_: isConversationGone,
		isTemporary_: isTemporary,
		showError_: showError,
		/** Shows why a request outside a delivery failed, such as a rating. */
		async handle(error: unknown): Promise<void> {
			if (error instanceof ApiError && !(await isTemporary(error))) showError(error);
			else if (!notices.isBlocking_()) notices.show('trouble');
		},
	};
}
