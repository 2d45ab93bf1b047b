import type { ServerSentEvent } from '../transport/event-stream.ts';
import { createRequests } from '../transport/requests.ts';
import { createApiErrorHandler } from './api-error-handler.ts';
import { createIdentity } from './identity.ts';
import { createLifecycle } from './lifecycle.ts';
import { createDelivery } from './message-delivery.ts';
import { createNotices, type Notice } from './notices.ts';
import type { PersonRequest } from './person-module.ts';
import { createPresence } from './presence.ts';
import { createRatings } from './ratings.ts';
import type { SessionOptions } from './session-options.ts';
import { createStreamFollower } from './stream-follower.ts';
import { createConversation, type TranscriptUpdate } from './visitor-conversation.ts';

/** The state and actions of a chat, without rendering. */
export type Session = ReturnType<typeof createSession>;

type SessionParts = ReturnType<typeof createParts>;

/** One visitor's conversation: sends messages and follows the event stream. */
export function createSession(options: SessionOptions) {
	const lifetime = new AbortController();
	const { signal } = lifetime;
	const parts = createParts(options, signal);
	const { requests, conversation, notices, delivery, presence, lifecycle, identity, onEvent } = parts;
	const { transcript } = conversation;
	const { update } = presence;
	addEventListener('online', () => notices.dismiss('offline'), { signal });
	addEventListener('offline', () => notices.disconnected_(), { signal });
	addEventListener('storage', lifecycle.onStorage, { signal });
	document.addEventListener('visibilitychange', update, { signal });

	return {
		...createRatings({ ...options, ...parts }),
		messages_: transcript.list,
		storageKey_: conversation.storageKey_,
		notice(): Notice | null {
			if (delivery.isFull() && !notices.isBlocking_()) return { stringKey: 'full' };
			return notices.current();
		},
		isBlocked_: notices.isBlocking_,
		isBusy: delivery.isBusy,
		/** Whether the earlier messages are being loaded. */
		isLoading_: () => !conversation.isLoaded_(),
		hasOlder_: () => conversation.olderCursor_() !== null,
		/** @returns false if the queue is full: then the message is not sent */
		send(text: string): boolean {
			lifecycle.resume();
			if (delivery.isFull()) return false;
			delivery.send(text);
			return true;
		},
		conversationId_: conversation.id,
		people_: conversation.people_,
		/** Changes the visitor's request for a person in this conversation. @returns whether it is stored */
		async requestPerson_(change: PersonRequest = {}): Promise<boolean> {
			return lifecycle.tryRequest_(async (scope) => {
				const data = await requests.requestPerson_(conversation.id() as string, change, scope);
				if (!scope.aborted) onEvent({ id: '', event: 'presence', data });
			});
		},
		retryMessage_: delivery.retry,
		cancelMessage_: delivery.cancel,
		stopReply_: delivery.stop,
		startNewConversation_: lifecycle.startNewConversation_,
		identify_: identity.identify,

		/** The chat is opened or closed. */
		setVisible_(isVisible: boolean): void {
			presence.setVisible_(isVisible);
			if (isVisible && notices.is('signIn')) options.emit('unauthorized', {});
			// Messages that the previous page has not sent are sent even if the chat stays closed.
			if (isVisible || conversation.hasUnsent_()) lifecycle.resume();
			update();
		},
		loadOlder_: () => loadOlder(parts, options.onChanged),
		destroy(): void {
			lifetime.abort();
			lifecycle.leave();
			notices.dismissAll_();
		},
	};
}

/** Constructs the parts of a session in the order of their dependencies. */
function createParts(options: SessionOptions, signal: AbortSignal) {
	const { base, config, fetch, announce, onChanged, emit } = options;
	const { streaming, jwt_required: isRequired } = config.features;
	const deploymentId = config.deployment_id;
	const requests = createRequests({ base, deploymentId, token: () => identity.token(), fetch });
	const conversation = createConversation(deploymentId);
	const notices = createNotices(isRequired ? { stringKey: 'signIn' } : null, (stringKey) => {
		if (stringKey) announce({ stringKey });
		onChanged();
	});
	const drain = () => delivery.drain();
	const errorHandler = createApiErrorHandler({ requests, conversation, notices, signal, drain, emit });
	const update = () => presence.update();
	const handleUpdate = ({ replyStarted_, completedMessage_ }: TranscriptUpdate) => {
		if (replyStarted_) announce({ stringKey: 'writing' });
		if (!completedMessage_) return delivery.afterEvent_(false);
		if (completedMessage_.status === 'failed') announce({ stringKey: 'failed' });
		else {
			// The message is answered and need not be sent again. A failed message is kept, so that it can be retried under its key.
			if (completedMessage_.author.type === 'model') conversation.setPending_(null);
			announce({ reply: conversation.transcript.get(completedMessage_.id) });
		}
		emit('message', { message: completedMessage_ });
		delivery.afterEvent_(true);
	};
	const onEvent = (event: ServerSentEvent) => {
		handleUpdate(conversation.applyEvent_(event));
		update();
	};
	const load = async (id: string, until?: AbortSignal) => {
		const page = await requests.history(id, null, until);
		if (until?.aborted) return;
		conversation.mergeNewest_(page).forEach(handleUpdate);
		update();
	};
	const shared = {
		requests,
		conversation,
		notices,
		errorHandler,
		emit,
		streaming,
		onEvent,
		load,
		onChanged,
		announce,
		update,
	};
	const delivery = createDelivery(shared);
	const following = createStreamFollower(shared);
	const presence = createPresence({ ...options, ...shared, delivery, following, signal });
	const lifecycle = createLifecycle({ ...shared, delivery, following });
	const identity = createIdentity({ ...shared, delivery, presence, lifecycle, isRequired });
	return { ...shared, delivery, presence, lifecycle, identity };
}

async function loadOlder({ requests, conversation, lifecycle }: SessionParts, onChanged: () => void): Promise<void> {
	const id = conversation.id();
	const cursor = conversation.olderCursor_();
	if (id === null || cursor === null) return;
	await lifecycle.tryRequest_(async (scope) => {
		const page = await requests.history(id, cursor, scope);
		// Another visitor with another conversation may have been identified meanwhile.
		if (!scope.aborted) conversation.mergeOlder_(page);
	});
	onChanged();
}
