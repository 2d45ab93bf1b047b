import type { Lifecycle } from './lifecycle.ts';
import type { Delivery } from './message-delivery.ts';
import type { Notices } from './notices.ts';
import type { Presence } from './presence.ts';
import type { Conversation } from './visitor-conversation.ts';

export interface IdentityOptions {
	conversation: Conversation;
	notices: Notices;
	delivery: Delivery;
	presence: Presence;
	lifecycle: Lifecycle;
	/** The deployment accepts identified visitors only. */
	isRequired: boolean;
}

/** The visitor's token, and what changes with it. */
export function createIdentity({ conversation, notices, delivery, presence, lifecycle, isRequired }: IdentityOptions) {
	let jwt: string | null = null;
	/** Takes the unsent messages of an anonymous visitor. The next page must not send them too. */
	const takeUnsent = (): string[] => {
		const unsent = delivery.unsentTexts_();
		if (unsent.length) {
			conversation.setPending_(null);
			conversation.clearQueue_();
		}
		return unsent;
	};
	return {
		token: () => jwt,
		/**
		 * Identifies the visitor by a token.
		 * @returns whether another identified visitor used the chat before
		 */
		identify(token: string): boolean {
			// Where tokens are optional and none was used, conversations are stored without a token. A token that was refused is not tried again.
			if ((!isRequired && jwt === null && !notices.is('signIn')) || token === jwt) return false;
			const wasAnonymous = jwt === null;
			jwt = token;
			// They go into the identified visitor's conversation.
			const unsent = wasAnonymous ? takeUnsent() : [];
			const isAnother = conversation.switchVisitor_(token);
			if (isAnother) {
				lifecycle.changeVisitor_();
				// The previous visitor waited for a person, not this one.
				if (!wasAnonymous) presence.setHumanExpected_(false);
			}
			notices.dismiss('signIn');
			if (!delivery.resendIdentified_()) lifecycle.resume();
			unsent.forEach(delivery.send);
			presence.update();
			delivery.drain();
			return isAnother && !wasAnonymous;
		},
	};
}
