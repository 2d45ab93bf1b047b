import type { Delivery } from './message-delivery.ts';
import type { Notices } from './notices.ts';
import type { SessionOptions } from './session-options.ts';
import type { StreamFollower } from './stream-follower.ts';
import type { Conversation } from './visitor-conversation.ts';

export interface PresenceOptions extends Pick<SessionOptions, 'humanExpected' | 'onHumanExpected' | 'onChanged'> {
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
	const { conversation, notices, delivery, following, onHumanExpected, onChanged, signal } = options;
	let { humanExpected } = options;
	let isVisible = false;

	const setHumanExpected = (is: boolean) => {
		if (is !== humanExpected) onHumanExpected(is);
		humanExpected = is;
	};

	return {
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
			onChanged();
		},
	};
}
