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
	/** Whether a person was to answer, on the page before this one. */
	humanExpected: boolean;
	/** Whether a person is to answer has changed. */
	onHumanExpected(is: boolean): void;
	/** Something that is shown has changed. */
	onChanged(): void;
	/** Something happened that those who cannot see it must hear. */
	announce(what: Announcement): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** A message that is unanswered for so long waits for a person: a model's reply begins with the message. */
const UNANSWERED_AFTER_MS = 1_000;

/** What a chat knows and does, without any looks. */
export type Session = ReturnType<typeof createSession>;

/** One visitor's conversation: sends what they write, and follows what the server tells. */
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
	/** A person is to answer, as the visitor is told. */
	let isAwaitingHuman = false;
	let awaitingTimer = 0;
	/** In this conversation. */
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

	/** Follows the conversation while somebody looks at it, or is to hear of it, and no message is being sent. */
	const update = () => {
		// Until it is known who is here, and what was said, it is as it was on the page before.
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
		updateAwaitingHuman(isKnown && !delivery.busy() && conversation.isUnanswered_());
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
			// Answered: it need not be sent again. The one that failed is kept, for the same message to be answered anew.
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

	/** Ends what goes on; the conversation stays where it is. */
	const leaveConversation = () => {
		conversationScope.abort();
		conversationScope = new AbortController();
		delivery.reset();
		following.stop();
	};
	/** Takes up what the page before this one left. */
	const resume = () => {
		if (hasStarted || notices.isBlocking_()) return;
		hasStarted = true;
		delivery.resume();
	};
	/** Asks for something that is of no use any more once the conversation is left; the visitor is told where it fails. */
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
	/** Tabs of one visitor are in one conversation. */
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
		isBusy: delivery.busy,
		/** Whether the messages of before are still to come. */
		isLoading_: () => !conversation.isLoaded_(),
		hasOlder_: () => conversation.olderCursor_() !== null,
		/** @returns false where too much waits already: then it is not sent */
		send(text: string): boolean {
			resume();
			if (delivery.isFull()) return false;
			delivery.send(text);
			return true;
		},
		retryMessage_: delivery.retry,
		cancelMessage_: delivery.cancel,
		stopReply_: delivery.stop,

		/** Somebody looks at the chat, or does not any more. */
		setVisible_(isLooking: boolean): void {
			isVisible = isLooking;
			if (isLooking && notices.is('signIn')) emit('unauthorized', {});
			// What the page before did not send is sent also where the chat stays closed.
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

		/** Says why a reply was not helpful. */
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
				// Somebody else may have come, who has another one.
				if (!conversationScope.aborted) conversation.mergeOlder_(page);
			});
			onChanged();
		},

		/**
		 * Begins a new conversation.
		 * @returns what the visitor wrote for the one before that was not sent
		 */
		startNewConversation_(): string[] {
			const shown = new Set(transcript.list().map((message) => message.id));
			const queuedByOtherTabs = conversation.queued().filter(({ key }) => !shown.has(key));
			const unsent = [...delivery.unsentTexts_(), ...queuedByOtherTabs.map(({ content }) => content)];
			const id = conversation.id();
			// Nobody waits for its reply any more.
			if (id && delivery.busy()) requests.stop(id).catch(() => {});
			leaveConversation();
			conversation.clear();
			conversation.forget();
			conversation.clearQueue_();
			notices.clear();
			update();
			return unsent;
		},

		/**
		 * Tells who the visitor is, from now on.
		 * @returns whether somebody was here before who is another one
		 */
		identify_(token: string): boolean {
			// Elsewhere nobody is known by a token, and conversations are kept without one. One that was refused stays so.
			if ((!jwt_required && jwt === null && !notices.is('signIn')) || token === jwt) return false;
			const wasAnonymous = jwt === null;
			jwt = token;
			const unsent = wasAnonymous ? delivery.unsentTexts_() : [];
			// What nobody known could not send goes into the conversation of whoever they are, and not also by the next page.
			if (unsent.length) {
				conversation.setPending_(null);
				conversation.clearQueue_();
			}
			const isAnother = conversation.switchVisitor_(token);
			if (isAnother) {
				leaveConversation();
				notices.dismissAll_();
				hasStarted = false;
				// Whoever waited was another one.
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
