import type { Requests } from '../transport/requests.ts';
import type { ApiErrorHandler } from './api-error-handler.ts';
import type { Delivery } from './message-delivery.ts';
import type { Notices } from './notices.ts';
import type { StreamFollower } from './stream-follower.ts';
import type { Conversation } from './visitor-conversation.ts';

export interface LifecycleOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	errorHandler: ApiErrorHandler;
	delivery: Delivery;
	following: StreamFollower;
	update(): void;
}

/** Continues, leaves and replaces the conversation of this chat. */
export type Lifecycle = ReturnType<typeof createLifecycle>;

export function createLifecycle(options: LifecycleOptions) {
	const { requests, conversation, notices, errorHandler, delivery, following, update } = options;
	let hasStarted = false;
	/** Aborts requests when the visitor leaves the conversation. */
	let scope = new AbortController();

	/** Aborts requests and streams. The stored conversation stays. */
	const leave = () => {
		scope.abort();
		scope = new AbortController();
		delivery.reset();
		following.stop();
	};

	return {
		leave,
		/** Continues with messages that the previous page has not sent. */
		resume(): void {
			if (hasStarted || notices.isBlocking_()) return;
			hasStarted = true;
			delivery.resume();
		},
		/** Another visitor uses the chat: `resume` continues with their messages. */
		changeVisitor_(): void {
			leave();
			notices.dismissAll_();
			hasStarted = false;
		},
		/** All tabs of a visitor show the same conversation. */
		onStorage(event: StorageEvent): void {
			if (delivery.isInFlight_() || !conversation.isChangedByOtherTab_(event)) return;
			leave();
			conversation.reload();
			notices.dismiss('closed');
			update();
		},
		/** Makes a request that is aborted when the visitor leaves the conversation. Shows a notice if it fails. */
		async tryRequest_(ask: (scope: AbortSignal) => Promise<unknown>): Promise<boolean> {
			const { signal } = scope;
			try {
				await ask(signal);
				return true;
			} catch (error) {
				if (!signal.aborted) await errorHandler.handle(error);
				return false;
			}
		},
		/**
		 * Starts a new conversation.
		 * @returns the visitor's unsent texts of the previous conversation
		 */
		startNewConversation_(): string[] {
			const shown = new Set(conversation.transcript.list().map((message) => message.id));
			const queuedByOtherTabs = conversation.queued().filter(({ key }) => !shown.has(key));
			const unsent = [...delivery.unsentTexts_(), ...queuedByOtherTabs.map(({ content }) => content)];
			const id = conversation.id();
			// The reply in progress is not needed any more.
			if (id && delivery.isBusy()) requests.stop(id).catch(() => {});
			leave();
			conversation.clear();
			conversation.forget();
			conversation.clearQueue_();
			notices.clear();
			update();
			return unsent;
		},
	};
}
