import type { Delivery } from './message-delivery.ts';
import type { Notices } from './notices.ts';
import type { SessionOptions } from './session-options.ts';
import type { StreamFollower } from './stream-follower.ts';
import type { Conversation } from './visitor-conversation.ts';

/** After this time an unanswered message waits for a person: a model's reply starts together with the message. */
const UNANSWERED_AFTER_MS = 1_000;

export interface PresenceOptions
	extends Pick<SessionOptions, 'humanExpected' | 'onHumanExpected' | 'onChanged' | 'announce'> {
	conversation: Conversation;
	notices: Notices;
	delivery: Delivery;
	following: StreamFollower;
	/** Aborts when the chat is destroyed. */
	signal: AbortSignal;
}

/** Who is there: whether the visitor looks at the chat, and whether a person is expected to answer. */
export type Presence = ReturnType<typeof createPresence>;

export function createPresence(options: PresenceOptions) {
	const { conversation, notices, delivery, following, onHumanExpected, onChanged, announce, signal } = options;
	let { humanExpected } = options;
	let isVisible = false;
	/** The notice that a person will answer is shown. */
	let isAwaitingHuman = false;
	let timer = 0;

	const setHumanExpected = (is: boolean) => {
		if (is !== humanExpected) onHumanExpected(is);
		humanExpected = is;
	};
	const updateAwaitingHuman = (is: boolean) => {
		if (is && (timer || isAwaitingHuman)) return;
		clearTimeout(timer);
		timer = 0;
		isAwaitingHuman = false;
		if (!is) return;
		timer = setTimeout(() => {
			timer = 0;
			isAwaitingHuman = true;
			announce({ stringKey: 'awaiting' });
			onChanged();
		}, UNANSWERED_AFTER_MS) as unknown as number;
	};

	return {
		isAwaitingHuman_: () => isAwaitingHuman,
		setHumanExpected_: setHumanExpected,
		setVisible_(is: boolean): void {
			isVisible = is;
		},
		/** Follows the conversation while it is visible or the visitor waits for a person, and no message is being sent. */
		update(): void {
			// Until the visitor and the messages are known, the value of the previous page applies.
			const isKnown = !notices.is('signIn') && conversation.isLoaded_();
			setHumanExpected(delivery.isExpecting_() || (isKnown ? conversation.awaitsHuman_() : humanExpected));
			const isSeen = (isVisible || humanExpected) && !document.hidden;
			following.setWanted_(
				!signal.aborted &&
					!delivery.isInFlight_() &&
					!notices.isBlocking_() &&
					conversation.id() !== null &&
					(isSeen || conversation.transcript.isWriting_()),
			);
			updateAwaitingHuman(isKnown && !delivery.isBusy() && conversation.isUnanswered_());
			onChanged();
		},
		/** Cancels the notice that a person will answer. */
		stop: () => clearTimeout(timer),
	};
}
