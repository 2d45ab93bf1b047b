import type { PendingMessage, QueuedMessage } from '../transport/conversation-storage.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Bound of the queue. */
const MAX_QUEUED = 20;

export interface MessageQueueOptions {
	conversation: Conversation;
	/** Whether the next message may be sent now. */
	mayDeliver_(): boolean;
	deliver(pending: PendingMessage): void;
	load(conversation: string, signal?: AbortSignal): Promise<void>;
	/** Something visible has changed. */
	update(): void;
}

/** Messages that are shown but not sent yet. The browser's storage has a copy for the next page. */
export type MessageQueue = ReturnType<typeof createMessageQueue>;

export function createMessageQueue({ conversation, mayDeliver_, deliver, load, update }: MessageQueueOptions) {
	const { transcript } = conversation;
	const queue: QueuedMessage[] = [];
	/** Earlier messages are being loaded. The queue waits for them. */
	let isLoadingFirst = false;
	let conversationScope = new AbortController();

	/** Adds a message to the end of the queue and shows it as waiting. */
	const enqueue_ = (message: QueuedMessage) => {
		queue.push(message);
		transcript.send(message);
		transcript.change(message.key, { status: 'waiting' });
	};
	const sendNext = () => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			const { key, content } = next;
			const pending: PendingMessage = { key, content, conversation: conversation.id(), message: '', at: Date.now() };
			// Stored before it is sent: if the page reloads now, the next page sends it again under the same key.
			if (conversation.dequeue_(pending)) return deliver(pending);
			// Another tab has sent or cancelled it.
			transcript.remove(key);
			update();
		}
	};

	return {
		enqueue_,
		isEmpty: () => queue.length === 0,
		isFull: () => queue.length >= MAX_QUEUED,
		has: (id: string) => queue.some(({ key }) => key === id),

		/** Adds a new message of the visitor. */
		add(content: string): void {
			const next = { key: newKey(), content, at: Date.now() };
			enqueue_(next);
			conversation.enqueue_(next);
		},

		/** Sends the first message if it may be sent now. */
		drain(): void {
			if (isLoadingFirst || !mayDeliver_()) return;
			const id = conversation.id();
			if (queue.length === 0 || id === null || conversation.isLoaded_()) {
				sendNext();
				return;
			}
			// A reply that this page has not loaded yet may be in progress.
			isLoadingFirst = true;
			const { signal } = conversationScope;
			void load(id, signal)
				.catch(() => {})
				.then(() => {
					if (signal.aborted) return;
					isLoadingFirst = false;
					if (mayDeliver_()) sendNext();
				});
		},

		/**
		 * Cancels a waiting message.
		 * @returns its text; undefined if the queue does not have it
		 */
		cancel(id: string): string | undefined {
			const at = queue.findIndex(({ key }) => key === id);
			if (at < 0) return undefined;
			const [message] = queue.splice(at, 1);
			conversation.removeQueued_(id);
			transcript.remove(id);
			update();
			return message?.content;
		},

		/** Marks all as unsent after an earlier message failed: the visitor decides whether they are sent without it. */
		markUnsent_(): void {
			for (const { key } of queue.splice(0)) transcript.change(key, { status: 'unsent' });
		},

		/** Empties the queue. The copy in the browser's storage stays. */
		clear(): void {
			queue.length = 0;
			isLoadingFirst = false;
			conversationScope.abort();
			conversationScope = new AbortController();
		},
	};
}

/** A random Idempotency-Key. `randomUUID` is missing on pages without HTTPS. */
function newKey(): string {
	return crypto.getRandomValues(new BigUint64Array(2)).join('');
}
