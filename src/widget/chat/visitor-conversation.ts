import type { WidgetMessage, WidgetPeople } from '../../contract/index.ts';
import {
	type ConversationStorage,
	openConversationStorage,
	type PendingMessage,
	type QueuedMessage,
} from '../transport/conversation-storage.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import type { HistoryPage } from '../transport/requests.ts';
import { concernsPerson } from './person-loader.ts';
import { createTranscript, type Transcript } from './transcript.ts';

/** A change that must be announced or reported to the page. */
export interface TranscriptUpdate {
	/** A reply has started. */
	replyStarted_?: boolean;
	/** A reply or a person's message is complete. */
	completedMessage_?: WidgetMessage;
}

/** A visitor's conversation: the messages on this page, and what the browser's storage keeps of it. */
export type Conversation = ReturnType<typeof createConversation>;

export function createConversation(deploymentId: string) {
	const transcript = createTranscript();
	/** Messages that may be sent again, by their key and, once stored, their id. */
	const retryable_ = new Map<string, PendingMessage>();
	let storage = openConversationStorage(deploymentId, null);
	/** Id of the displayed conversation. Another tab may have started a new one. */
	let shownId = storage.get().conversation;
	/** The position in the event stream; empty: from now on. */
	let position = '';
	/** Whether the earlier messages are loaded. */
	let isLoaded = shownId === null;
	/** Cursor of the messages before the displayed ones. */
	let olderCursor: string | null = null;
	/** The people of the conversation, as the server has said last. */
	let people: WidgetPeople | null = null;

	/** Removes all displayed messages. */
	const clear = () => {
		transcript.clear();
		people = null;
		position = '';
		olderCursor = null;
	};
	const show = () => {
		shownId = storage.get().conversation;
		isLoaded = shownId === null;
	};

	return {
		...createUnsentMessages(() => storage),
		transcript,
		retryable_,
		clear,
		/** Key in the browser's storage, by deployment and visitor. */
		storageKey_: () => storage.name,
		id: () => storage.get().conversation,
		position_: () => position,
		isLoaded_: () => isLoaded,
		olderCursor_: () => olderCursor,
		people_: () => people,
		/** Whether a person is expected to write: the visitor waits for one or talks to one, or the last message is unanswered. */
		awaitsHuman_(): boolean {
			const last = transcript.list().at(-1);
			return concernsPerson(people) || (last?.role === 'user' && last.status === 'completed');
		},

		/** Whether a storage event says that another tab of this visitor has started another conversation. */
		isChangedByOtherTab_: ({ key }: StorageEvent) => key === storage.name && storage.read().conversation !== shownId,
		/** Switches to the conversation in the browser's storage. */
		reload(): void {
			clear();
			show();
		},
		/**
		 * Switches to the conversation of the token's subject.
		 * @returns false if it is the same visitor. Then nothing changes: where the browser refuses storage, the only copy is here.
		 */
		switchVisitor_(jwt: string): boolean {
			const otherStorage = openConversationStorage(deploymentId, jwt);
			if (otherStorage.name === storage.name) return false;
			storage = otherStorage;
			clear();
			show();
			return true;
		},
		/** Forgets the conversation's id. Displayed messages stay. */
		forget(): void {
			storage.set({ conversation: null, pending: null });
			people = null;
			position = '';
			olderCursor = null;
			show();
		},

		/** Merges the newest messages. @returns the changes, oldest first */
		mergeNewest_({ data, next_cursor, people: current }: HistoryPage): TranscriptUpdate[] {
			const updates: TranscriptUpdate[] = [];
			for (const message of [...data].reverse()) {
				const known = transcript.get(message.id);
				transcript.merge(message);
				if (isLoaded && known?.status !== message.status && message.role === 'assistant')
					updates.push({ completedMessage_: message });
			}
			people = current;
			if (!isLoaded) olderCursor = next_cursor;
			isLoaded = true;
			return updates;
		},
		/** Merges messages from before the displayed ones. */
		mergeOlder_({ data, next_cursor }: HistoryPage): void {
			for (const message of data) transcript.merge(message);
			olderCursor = next_cursor;
		},
		/** Applies an event of the conversation's stream. */
		applyEvent_(event: ServerSentEvent): TranscriptUpdate {
			// Set first: an event that cannot be read is not asked for again.
			if (event.id) position = event.id;
			if (event.event === 'presence') people = JSON.parse(event.data);
			return applyToTranscript(transcript, event);
		},

		/**
		 * Records the id under which the server has stored a message.
		 * @returns whether the id is new
		 */
		store(pending: PendingMessage, id: string, conversation: string): boolean {
			const isNew = pending.message === '';
			transcript.remove(pending.key);
			pending.message = id;
			retryable_.set(id, pending);
			shownId = conversation;
			storage.set({ conversation, pending });
			return isNew;
		},
	};
}

function applyToTranscript(transcript: Transcript, { event, data }: ServerSentEvent): TranscriptUpdate {
	const { message, message_id, index, delta } = JSON.parse(data) as {
		message: WidgetMessage;
		message_id: string;
		index: number;
		delta: string;
	};
	switch (event) {
		case 'message.created':
			transcript.store(message);
			return { replyStarted_: message.status === 'in_progress' };
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
			return { completedMessage_: message };
	}
	return {};
}

/** The messages in the browser's storage that are not answered yet: the next page sends them. */
function createUnsentMessages(storage: () => ConversationStorage) {
	return {
		/** The message that is being sent, or whose reply may be asked for again. */
		pending: () => storage().get().pending,
		setPending_: (pending: PendingMessage | null) => storage().set({ pending }),
		/** The stored queue, with the changes of other tabs. */
		queued: (): QueuedMessage[] => storage().read().queue,
		enqueue_: (message: QueuedMessage) => storage().set({ queue: [...storage().read().queue, message] }),
		removeQueued_: (key: string) =>
			storage().set({
				queue: storage()
					.read()
					.queue.filter((message) => message.key !== key),
			}),
		clearQueue_: () => storage().set({ queue: [] }),
		/** Whether this page or the previous one has unsent messages. */
		hasUnsent_: () => storage().get().pending?.message === '' || storage().get().queue.length > 0,
		/**
		 * Moves a message from the queue to `pending`.
		 * @returns false if another tab has sent or cancelled it
		 */
		dequeue_(pending: PendingMessage): boolean {
			const { queue } = storage().read();
			const rest = queue.filter(({ key }) => key !== pending.key);
			if (rest.length < queue.length) storage().set({ queue: rest, pending });
			return rest.length < queue.length;
		},
	};
}
