import type { WidgetConfig } from '../../contract/index.ts';
import type { WidgetEvents } from '../public.d.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import { createRequests } from '../transport/requests.ts';
import type { Announcement } from './announcement.ts';
import { createApiErrorHandler } from './api-error-handler.ts';
import { createDelivery } from './message-delivery.ts';
import { createNotices, type Notice } from './notices.ts';
import { createStreamFollower } from './stream-follower.ts';
import { createConversation, type TranscriptUpdate } from './visitor-conversation.ts';

export interface SessionOptions {
	base: string;
	config: WidgetConfig;
	/** Whether the visitor waited for a person on the previous page. */
	humanExpected: boolean;
	/** The visitor begins or stops to wait for a person. */
	onHumanExpected(is: boolean): void;
	/** Something visible has changed. */
	onChanged(): void;
	/** Announces something to screen readers. */
	announce(what: Announcement): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** After this time an unanswered message waits for a person: a model's reply starts together with the message. */
const UNANSWERED_AFTER_MS = 1_000;

/** The state and actions of a chat, without rendering. */
export type Session = ReturnType<typeof createSession>;

/** One visitor's conversation: sends messages and follows the event stream. */
export function createSession({
	base,
	config,
	humanExpected,
	onHumanExpected,
	onChanged,
	announce,
	emit,
}: SessionOptions) {
	const { deployment_id, features } = config;
	const { streaming, jwt_required } = features;
	const lifetime = new AbortController();
	const { signal } = lifetime;
	let jwt: string | null = null;
	let isVisible = false;
	let hasStarted = false;
	/** The notice that a person will answer is shown. */
	let isAwaitingHuman = false;
	let awaitingTimer = 0;
	/** Aborts requests when the visitor leaves the conversation. */
	let conversationScope = new AbortController();

	const requests = createRequests({ base, deploymentId: deployment_id, token: () => jwt });
	const conversation = createConversation(deployment_id);
	const { transcript } = conversation;
	const notices = createNotices(jwt_required ? { stringKey: 'signIn' } : null, (stringKey) => {
		if (stringKey) announce({ stringKey });
		onChanged();
	});
	const errorHandler = createApiErrorHandler({
		requests,
		conversation,
		notices,
		signal,
		drain: () => delivery.drain(),
		emit,
	});

	/** Follows the conversation while it is visible or the visitor waits for a person, and no message is being sent. */
	const update = () => {
		// Until the visitor and the messages are known, the value of the previous page applies.
		const isKnown = !notices.is('signIn') && conversation.isLoaded_();
		const awaitsHuman = delivery.isExpecting_() || (isKnown ? conversation.awaitsHuman_() : humanExpected);
		if (awaitsHuman !== humanExpected) onHumanExpected(awaitsHuman);
		humanExpected = awaitsHuman;
		const isSeen = (isVisible || awaitsHuman) && !document.hidden;
		following.setWanted_(
			!signal.aborted &&
				!delivery.isInFlight_() &&
				!notices.isBlocking_() &&
				conversation.id() !== null &&
				(isSeen || transcript.isWriting_()),
		);
		updateAwaitingHuman(isKnown && !delivery.isBusy() && conversation.isUnanswered_());
		onChanged();
	};
	const updateAwaitingHuman = (is: boolean) => {
		if (is && (awaitingTimer || isAwaitingHuman)) return;
		clearTimeout(awaitingTimer);
		awaitingTimer = 0;
		isAwaitingHuman = false;
		if (!is) return;
		awaitingTimer = setTimeout(() => {
			awaitingTimer = 0;
			isAwaitingHuman = true;
			announce({ stringKey: 'awaiting' });
			onChanged();
		}, UNANSWERED_AFTER_MS) as unknown as number;
	};
	const handleUpdate = ({ replyStarted, completedMessage }: TranscriptUpdate) => {
		if (replyStarted) announce({ stringKey: 'writing' });
		if (!completedMessage) return delivery.afterEvent_(false);
		if (completedMessage.status === 'failed') announce({ stringKey: 'failed' });
		else {
			// The message is answered and need not be sent again. A failed message is kept, so that it can be retried under its key.
			if (completedMessage.author.type === 'model') conversation.setPending_(null);
			announce({ reply: transcript.get(completedMessage.id) });
		}
		emit('message', { message: completedMessage });
		delivery.afterEvent_(true);
	};
	const handleEvent = (event: ServerSentEvent) => {
		handleUpdate(conversation.applyEvent_(event));
		update();
	};
	const load = async (id: string, until?: AbortSignal) => {
		const page = await requests.history(id, null, until);
		if (until?.aborted) return;
		conversation.mergeNewest_(page).forEach(handleUpdate);
		update();
	};
	const sharedOptions = {
		requests,
		conversation,
		notices,
		errorHandler,
		emit,
		streaming,
		onEvent: handleEvent,
		load,
	};
	const delivery = createDelivery({ ...sharedOptions, announce, update });
	const following = createStreamFollower({ ...sharedOptions, onChanged });

	/** Aborts requests and streams. The stored conversation stays. */
	const leaveConversation = () => {
		conversationScope.abort();
		conversationScope = new AbortController();
		delivery.reset();
		following.stop();
	};
	/** Continues with messages that the previous page has not sent. */
	const resume = () => {
		if (hasStarted || notices.isBlocking_()) return;
		hasStarted = true;
		delivery.resume();
	};
	/** Makes a request that is aborted when the visitor leaves the conversation. Shows a notice if it fails. */
	const tryRequest = async (ask: (conversationScope: AbortSignal) => Promise<unknown>): Promise<boolean> => {
		const { signal } = conversationScope;
		try {
			await ask(signal);
			return true;
		} catch (error) {
			if (!signal.aborted) await errorHandler.handle(error);
			return false;
		}
	};

	addEventListener('online', () => notices.dismiss('offline'), { signal });
	addEventListener('offline', () => notices.disconnected_(), { signal });
	/** All tabs of a visitor show the same conversation. */
	const onStorage = (event: StorageEvent) => {
		if (delivery.isInFlight_() || !conversation.isChangedByOtherTab_(event)) return;
		leaveConversation();
		conversation.reload();
		notices.dismiss('closed');
		update();
	};
	addEventListener('storage', onStorage, { signal });
	document.addEventListener('visibilitychange', update, { signal });

	return {
		messages_: transcript.list,
		storageKey_: conversation.storageKey_,
		notice(): Notice | null {
			if (delivery.isFull() && !notices.isBlocking_()) return { stringKey: 'full' };
			return notices.current() ?? (isAwaitingHuman ? { stringKey: 'awaiting' } : null);
		},
		isBlocked_: notices.isBlocking_,
		isBusy: delivery.isBusy,
		/** Whether the earlier messages are being loaded. */
		isLoading_: () => !conversation.isLoaded_(),
		hasOlder_: () => conversation.olderCursor_() !== null,
		/** @returns false if the queue is full: then the message is not sent */
		send(text: string): boolean {
			resume();
			if (delivery.isFull()) return false;
			delivery.send(text);
			return true;
		},
		retryMessage_: delivery.retry,
		cancelMessage_: delivery.cancel,
		stopReply_: delivery.stop,

		/** The chat is opened or closed. */
		setVisible_(isLooking: boolean): void {
			isVisible = isLooking;
			if (isLooking && notices.is('signIn')) emit('unauthorized', {});
			// Messages that the previous page has not sent are sent even if the chat stays closed.
			if (isLooking || conversation.hasUnsent_()) resume();
			update();
		},

		async rateReply_(id: string, rating: 'up' | 'down'): Promise<void> {
			const message = transcript.get(id);
			if (!message) return;
			const next = message.feedback === rating ? null : rating;
			transcript.change(id, { feedback: next, feedbackState: undefined });
			onChanged();
			if (!(await tryRequest((conversationScope) => requests.rate(id, next, conversationScope)))) {
				transcript.change(id, { feedback: message.feedback });
				onChanged();
			} else if (next) {
				transcript.change(id, { feedbackState: next === 'down' ? 'ask' : 'done' });
				announce({ stringKey: 'thanks' });
			}
		},

		/** Sends the reason for a rating. */
		async giveReason_(id: string, comment: string): Promise<void> {
			if (!(await tryRequest((conversationScope) => requests.rate(id, 'down', conversationScope, comment)))) return;
			transcript.change(id, { feedbackState: 'done' });
			announce({ stringKey: 'thanks' });
		},

		async loadOlder_(): Promise<void> {
			const id = conversation.id();
			const cursor = conversation.olderCursor_();
			if (id === null || cursor === null) return;
			await tryRequest(async (conversationScope) => {
				const page = await requests.history(id, cursor, conversationScope);
				// Another visitor with another conversation may have been identified meanwhile.
				if (!conversationScope.aborted) conversation.mergeOlder_(page);
			});
			onChanged();
		},

		/**
		 * Starts a new conversation.
		 * @returns the visitor's unsent texts of the previous conversation
		 */
		startNewConversation_(): string[] {
			const shown = new Set(transcript.list().map((message) => message.id));
			const queuedByOtherTabs = conversation.queued().filter(({ key }) => !shown.has(key));
			const unsent = [...delivery.unsentTexts_(), ...queuedByOtherTabs.map(({ content }) => content)];
			const id = conversation.id();
			// The reply in progress is not needed any more.
			if (id && delivery.isBusy()) requests.stop(id).catch(() => {});
			leaveConversation();
			conversation.clear();
			conversation.forget();
			conversation.clearQueue_();
			notices.clear();
			update();
			return unsent;
		},

		/**
		 * Identifies the visitor by a token.
		 * @returns whether another identified visitor used the chat before
		 */
		identify_(token: string): boolean {
			// Where tokens are optional and none was used, conversations are stored without a token. A token that was refused is not tried again.
			if ((!jwt_required && jwt === null && !notices.is('signIn')) || token === jwt) return false;
			const wasAnonymous = jwt === null;
			jwt = token;
			const unsent = wasAnonymous ? delivery.unsentTexts_() : [];
			// Unsent messages of the anonymous visitor go into the identified visitor's conversation. The next page must not send them too.
			if (unsent.length) {
				conversation.setPending_(null);
				conversation.clearQueue_();
			}
			const isAnother = conversation.switchVisitor_(token);
			if (isAnother) {
				leaveConversation();
				notices.dismissAll_();
				hasStarted = false;
				// The previous visitor waited for a person, not this one.
				if (!wasAnonymous) {
					humanExpected = false;
					onHumanExpected(humanExpected);
				}
			}
			notices.dismiss('signIn');
			if (!delivery.resendIdentified_()) resume();
			unsent.forEach(delivery.send);
			update();
			delivery.drain();
			return isAnother && !wasAnonymous;
		},

		destroy(): void {
			lifetime.abort();
			clearTimeout(awaitingTimer);
			leaveConversation();
			notices.dismissAll_();
		},
	};
}
