import type { PendingMessage, QueuedMessage } from '../transport/conversation-storage.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Messages that may wait at once. */
const MAX_QUEUED = 20;

export interface MessageQueueOptions {
	conversation: Conversation;
	/** Whether the next message may be sent now. */
	mayDeliver(): boolean;
	deliver(pending: PendingMessage): void;
	load(conversation: string, signal?: AbortSignal): Promise<void>;
	/** What is shown has changed. */
	update(): void;
}

/** Messages that wait for their turn: shown, but not sent. The browser keeps a copy of them for the next page. */
export type MessageQueue = ReturnType<typeof createMessageQueue>;

export function createMessageQueue({ conversation, mayDeliver, deliver, load, update }: MessageQueueOptions) {
	const { transcript } = conversation;
	const queue: QueuedMessage[] = [];
	/** The messages of before this page are being loaded, before anything is sent after them. */
	let isLoadingFirst = false;
	let conversationScope = new AbortController();

	/** Shows a message as waiting, at the end of the queue. */
	const enqueue = (message: QueuedMessage) => {
		queue.push(message);
		transcript.send(message);
		transcript.change(message.key, { status: 'waiting' });
	};
	const sendNext = () => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			const { key, content } = next;
			const pending: PendingMessage = { key, content, conversation: conversation.id(), message: '', at: Date.now() };
			// Kept before it is sent: a page that is reloaded now sends it again, under the same key.
			if (conversation.dequeue(pending)) return deliver(pending);
			// Another tab has sent or cancelled it.
			transcript.remove(key);
			update();
		}
	};

	return {
		enqueue,
		isEmpty: () => queue.length === 0,
		isFull: () => queue.length >= MAX_QUEUED,
		has: (id: string) => queue.some(({ key }) => key === id),

		/** Adds what the visitor wrote. */
		add(content: string): void {
			const next = { key: newKey(), content, at: Date.now() };
			enqueue(next);
			conversation.enqueue(next);
		},

		/** Sends the first message, if its turn has come. */
		drain(): void {
			if (isLoadingFirst || !mayDeliver()) return;
			const id = conversation.id();
			if (queue.length === 0 || id === null || conversation.isLoaded_()) {
				sendNext();
				return;
			}
			// A reply may be under way that this page does not know of yet.
			isLoadingFirst = true;
			const { signal } = conversationScope;
			void load(id, signal)
				.catch(() => {})
				.then(() => {
					if (signal.aborted) return;
					isLoadingFirst = false;
					if (mayDeliver()) sendNext();
				});
		},

		/**
		 * Takes back a message.
		 * @returns its text; undefined where it does not wait here
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

		/** A message before these could not be sent: the visitor decides whether they are sent without it. */
		markUnsent_(): void {
			for (const { key } of queue.splice(0)) transcript.change(key, { status: 'unsent' });
		},

		/** Forgets what waits; the browser's copy stays. */
		clear(): void {
			queue.length = 0;
			isLoadingFirst = false;
			conversationScope.abort();
			conversationScope = new AbortController();
		},
	};
}

/** Made for one message; also where the page is not served over HTTPS, and `randomUUID` is not there. */
function newKey(): string {
	return crypto.getRandomValues(new BigUint64Array(2)).join('');
}
