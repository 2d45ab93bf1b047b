import type { PendingMessage } from '../transport/conversation-storage.ts';
import { withoutControls } from '../transport/without-controls.ts';
import type { DeliveryOptions, DeliveryParts, DeliveryState } from './delivery-options.ts';
import { showUnsent } from './failed-reply.ts';
import { createMessageQueue } from './message-queue.ts';
import { resumeDelivery, retryMessage } from './send-again.ts';
import { sendWithRetries } from './send-attempts.ts';
import { stopReply } from './stop-reply.ts';

/** Sends the visitor's messages one after the other: each until it is answered, and never twice. */
export type Delivery = ReturnType<typeof createDelivery>;

export function createDelivery(options: DeliveryOptions) {
	const parts = createParts(options);
	const { conversation, queue, state, isBusy, deliver, send } = parts;
	const stop = () => stopReply(parts);
	return {
		isBusy,
		drain: queue.drain,
		stop,
		/** Whether a request with a message is open. Its response may be the reply's stream. */
		isInFlight_: () => state.current_ !== null,
		/** Whether messages are queued or a reply is expected. */
		isExpecting_: () => isBusy() || !queue.isEmpty(),
		/** Whether the queue is full. */
		isFull: queue.isFull,
		send,
		/**
		 * Cancels a waiting message.
		 * @returns its text if it was certainly not sent
		 */
		cancel(id: string): string {
			const text = queue.cancel(id);
			if (text === undefined && conversation.pending()?.key === id) void stop();
			return text ?? '';
		},
		resume: () => resumeDelivery(parts),
		retry: (id: string) => retryMessage(parts, id),
		/** Handles a requested stop and the queue after an event: when a reply ends, or when there is a reply to stop. */
		afterEvent_(hasEnded: boolean): void {
			if (hasEnded) {
				state.isStopRequested_ = false;
				queue.drain();
			} else if (state.isStopRequested_ && conversation.transcript.isWriting_()) void stop();
		},
		/** Texts of messages that are not sent and not on their way. */
		unsentTexts_: (): string[] =>
			conversation.transcript
				.list()
				.filter(({ id, status }) => status === 'unsent' || queue.has(id))
				.map(({ content }) => content),
		/** Aborts the current delivery and empties the queue. */
		reset(): void {
			state.current_?.abort();
			state.current_ = state.waitingForToken_ = null;
			state.isStopRequested_ = false;
			queue.clear();
		},
		/** Sends the message again that was refused without a valid token. @returns whether there was one */
		resendIdentified_(): boolean {
			const again = state.waitingForToken_;
			state.waitingForToken_ = null;
			if (again) void deliver(again);
			return again !== null;
		},
	};
}

function createParts(options: DeliveryOptions): DeliveryParts {
	const { conversation, notices, load, update } = options;
	const { transcript, retryable_ } = conversation;
	const state: DeliveryState = { current_: null, isStuck_: false, isStopRequested_: false, waitingForToken_: null };
	const isBusy = () => state.current_ !== null || transcript.isWriting_();
	const deliver = async (pending: PendingMessage) => {
		const controller = new AbortController();
		state.current_?.abort();
		state.current_ = controller;
		state.isStuck_ = state.isStopRequested_ = false;
		retryable_.set(pending.key, pending);
		if (!pending.message) transcript.send(pending);
		notices.dismiss('trouble', 'limited');
		update();
		let isSent = true;
		try {
			isSent = await sendWithRetries(parts, pending, controller.signal);
		} finally {
			if (state.current_ === controller) {
				state.current_ = null;
				state.isStopRequested_ = false;
				if (!isSent) showUnsent(conversation, pending);
				update();
				queue.drain();
			}
		}
	};
	const queue = createMessageQueue({
		conversation,
		mayDeliver_: () => !isBusy() && !notices.isBlocking_() && !notices.is('limited'),
		deliver: (pending) => void deliver(pending),
		load,
		update,
	});
	const send = (text: string) => {
		const content = withoutControls(text).trim();
		if (content) queue.add(content);
		queue.drain();
		update();
	};
	const parts = { ...options, queue, state, isBusy, deliver, send };
	return parts;
}
