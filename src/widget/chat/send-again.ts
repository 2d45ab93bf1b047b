import type { QueuedMessage } from '../transport/conversation-storage.ts';
import type { DeliveryParts } from './delivery-options.ts';

/** The next page sends an interrupted message by itself within this time. */
const RESUME_WINDOW_MS = 10 * 60_000;

/** Continues with the messages that were pending or queued when the previous page was left. */
export function resumeDelivery({ conversation, queue, deliver, update }: DeliveryParts): void {
	const { transcript, retryable_ } = conversation;
	const isFresh = ({ at }: { at: number }) => Date.now() - at < RESUME_WINDOW_MS;
	// An old message is shown as unsent, so that the visitor decides.
	const ask = (message: QueuedMessage) => {
		transcript.send(message);
		transcript.change(message.key, { status: 'unsent' });
	};
	const pending = conversation.pending();
	if (pending) retryable_.set(pending.message || pending.key, pending);
	if (pending && !pending.message) {
		if (isFresh(pending)) void deliver(pending);
		else ask(pending);
	}
	for (const next of conversation.queued()) {
		if (isFresh(next)) queue.enqueue_(next);
		else ask(next);
	}
	queue.drain();
	update();
}

/** Sends an unsent message again, or asks again for a reply that failed. */
export function retryMessage({ conversation, notices, isBusy, deliver, send }: DeliveryParts, id: string): void {
	const { transcript, retryable_ } = conversation;
	const list = transcript.list();
	const at = list.findIndex((message) => message.id === id);
	const question = list.findLast(({ role }, index) => role === 'user' && index <= at);
	if (!question || isBusy() || notices.isBlocking_()) return;
	const pending = retryable_.get(question.id);
	if (question.id === id) {
		const { content } = question;
		const again = pending ?? { key: id, content, conversation: conversation.id(), message: '', at: Date.now() };
		if (!conversation.dequeue_(again)) conversation.setPending_(again);
		void deliver(again);
	} else if (pending) {
		conversation.setPending_(pending);
		transcript.change(id, { content: '', status: 'in_progress' });
		void deliver(pending);
	} else send(question.content);
}
