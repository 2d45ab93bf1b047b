import type { Requests } from '../transport/requests.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { SessionOptions } from './session-options.ts';
import type { Conversation } from './visitor-conversation.ts';

export interface RatingsOptions extends Pick<SessionOptions, 'announce' | 'onChanged'> {
	requests: Requests;
	conversation: Conversation;
	lifecycle: Lifecycle;
}

/** The visitor's ratings of replies. */
export function createRatings({ requests, conversation, lifecycle, announce, onChanged }: RatingsOptions) {
	const { transcript } = conversation;
	return {
		/** Rates a reply, or removes the same rating. */
		async rateReply_(id: string, rating: 'up' | 'down'): Promise<void> {
			const message = transcript.get(id);
			if (!message) return;
			const next = message.feedback === rating ? null : rating;
			transcript.change(id, { feedback: next, feedbackState_: undefined });
			onChanged();
			if (!(await lifecycle.tryRequest_((scope) => requests.rate(id, next, scope)))) {
				transcript.change(id, { feedback: message.feedback });
				onChanged();
			} else if (next) {
				transcript.change(id, { feedbackState_: next === 'down' ? 'ask' : 'done' });
				announce({ stringKey: 'thanks' });
			}
		},
		/** Sends the reason for a rating. */
		async giveReason_(id: string, comment: string): Promise<void> {
			if (!(await lifecycle.tryRequest_((scope) => requests.rate(id, 'down', scope, comment)))) return;
			transcript.change(id, { feedbackState_: 'done' });
			announce({ stringKey: 'thanks' });
		},
	};
}
