import type { WidgetMessage } from '../../contract/index.ts';
import { openConversationStorage, type PendingMessage, type QueuedMessage } from '../transport/conversation-storage.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import type { HistoryPage } from '../transport/requests.ts';
import { createTranscript } from './transcript.ts';

/** What an event, or the history, has told that others must know of. */
export interface TranscriptUpdate {
	/** A reply is being written from now on. */
	replyStarted?: boolean;
	/** A reply, or a person's message, is whole. */
	completedMessage?: WidgetMessage;
}

/** A visitor's conversation as far as this page knows it, and what the browser keeps of it. */
export type Conversation = ReturnType<typeof createConversation>;

export function createConversation(deploymentId: string) {
	const transcript = createTranscript();
	/** Messages that may be sent again, by their key and, once stored, their id. */
	const retryable = new Map<string, PendingMessage>();
	let storage = openConversationStorage(deploymentId, null);
	/** The one that is shown: another tab may begin one. */
	let shownId = storage.get().conversation;
	/** The position in its stream; empty: from now on. */
	let position = '';
	/** Whether the messages before this page are there. */
	let isLoaded = shownId === null;
	/** Leads to older messages than those shown. */
	let olderCursor: string | null = null;

	/** Nothing of it is shown any more. */
	const clear = () => {
		transcript.clear();
		position = '';
		olderCursor = null;
	};
	const show = () => {
		shownId = storage.get().conversation;
		isLoaded = shownId === null;
	};

	return {
		transcript,
		retryable: retryable,
		clear,
		/** Tells the conversations of several people and deployments apart, in what the browser keeps. */
		storageKey_: () => storage.name,
		id: () => storage.get().conversation,
		pending: () => storage.get().pending,
		position_: () => position,
		isLoaded_: () => isLoaded,
		olderCursor_: () => olderCursor,
		setPending_: (pending: PendingMessage | null) => storage.set({ pending }),
		/** What waits for its turn, as this tab or another one has left it. */
		queued: (): QueuedMessage[] => storage.read().queue,
		enqueue: (message: QueuedMessage) => storage.set({ queue: [...storage.read().queue, message] }),
		removeQueued_: (key: string) =>
			storage.set({ queue: storage.read().queue.filter((message) => message.key !== key) }),
		clearQueue_: () => storage.set({ queue: [] }),
		/** What is not sent yet, by this page or the one before. */
		hasUnsent_: () => storage.get().pending?.message === '' || storage.get().queue.length > 0,
		/**
		 * Takes a message out of the queue, to be sent now.
		 * @returns false where another tab has sent or cancelled it
		 */
		dequeue(pending: PendingMessage): boolean {
			const { queue } = storage.read();
			const rest = queue.filter(({ key }) => key !== pending.key);
			if (rest.length < queue.length) storage.set({ queue: rest, pending });
			return rest.length < queue.length;
		},

		/** Somebody is to speak who is not asked: a person has it in hand, or nobody has answered yet. */
		awaitsHuman_(): boolean {
			const last = transcript.list().at(-1);
			return last?.author.type === 'human' || (last?.role === 'user' && last.status === 'completed');
		},

		/** What the visitor wrote last is stored, and no model writes a reply: a person is to answer. */
		isUnanswered_(): boolean {
			const last = transcript.list().at(-1);
			return last?.role === 'user' && last.status === 'completed';
		},

		/** Whether the browser keeps another one by now, as this storage event tells: a tab of the same visitor began it. */
		isChangedByOtherTab_: ({ key }: StorageEvent) => key === storage.name && storage.read().conversation !== shownId,
		/** Goes on with the one that the browser keeps. */
		reload(): void {
			clear();
			show();
		},
		/**
		 * Goes on with the one of whoever this token is for.
		 * @returns whether that is another one; where it is not, nothing changes: what there is may be kept nowhere but here
		 */
		switchVisitor_(jwt: string): boolean {
			const otherStorage = openConversationStorage(deploymentId, jwt);
			if (otherStorage.name === storage.name) return false;
			storage = otherStorage;
			clear();
			show();
			return true;
		},
		/** There is none any more; what is shown stays. */
		forget(): void {
			storage.set({ conversation: null, pending: null });
			position = '';
			olderCursor = null;
			show();
		},

		/** Takes in the newest messages; what they tell in the order in which it happened. */
		mergeNewest_({ data, next_cursor }: HistoryPage): TranscriptUpdate[] {
			const updates: TranscriptUpdate[] = [];
			for (const message of [...data].reverse()) {
				const known = transcript.get(message.id);
				transcript.merge(message);
				if (isLoaded && known?.status !== message.status && message.role === 'assistant')
					updates.push({ completedMessage: message });
			}
			if (!isLoaded) olderCursor = next_cursor;
			isLoaded = true;
			return updates;
		},
		/** Takes in messages from before those that are shown. */
		mergeOlder_({ data, next_cursor }: HistoryPage): void {
			for (const message of data) transcript.merge(message);
			olderCursor = next_cursor;
		},
		/** Takes in what a stream tells. */
		applyEvent_({ id, event, data }: ServerSentEvent): TranscriptUpdate {
			const { message, message_id, index, delta } = JSON.parse(data) as {
				message: WidgetMessage;
				message_id: string;
				index: number;
				delta: string;
			};
			if (id) position = id;
			switch (event) {
				case 'message.created':
					transcript.store(message);
					return { replyStarted: message.status === 'in_progress' };
				case 'message.delta':
					transcript.change(message_id, { toolRunning: false });
					transcript.appendText_(message_id, index, delta);
					break;
				case 'message.reset':
					transcript.change(message_id, { content: '', status: 'in_progress', toolRunning: false });
					break;
				case 'tool.started':
				case 'tool.completed':
					transcript.change(message_id, { toolRunning: event === 'tool.started' });
					break;
				case 'message.completed':
				case 'message.failed':
					transcript.store(message);
					return { completedMessage: message };
			}
			return {};
		},

		/**
		 * A message that was on its way is stored under an id.
		 * @returns whether that was not known before
		 */
		store(pending: PendingMessage, id: string, conversation: string): boolean {
			const isNew = pending.message === '';
			transcript.remove(pending.key);
			pending.message = id;
			retryable.set(id, pending);
			shownId = conversation;
			storage.set({ conversation, pending });
			return isNew;
		},
	};
}
