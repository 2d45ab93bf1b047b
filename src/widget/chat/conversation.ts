import type { WidgetMessage } from '../../contract/index.ts';
import type { StreamEvent } from '../transport/event-stream.ts';
import { type Pending, type Queued, rememberedAt } from '../transport/remembered.ts';
import type { HistoryPage } from '../transport/requests.ts';
import { createTranscript } from './transcript.ts';

/** What an event, or the history, has told that others must know of. */
export interface Told {
	/** A reply is being written from now on. */
	begun?: boolean;
	/** A reply, or a person's message, is whole. */
	ended?: WidgetMessage;
}

/** A visitor's conversation as far as this page knows it, and what the browser keeps of it. */
export type Conversation = ReturnType<typeof createConversation>;

export function createConversation(deploymentId: string) {
	const transcript = createTranscript();
	/** Messages that may be sent again, by their key and, once stored, their id. */
	const sendable = new Map<string, Pending>();
	let memory = rememberedAt(deploymentId, null);
	/** The one that is shown: another tab may begin one. */
	let shown = memory.get().conversation;
	/** The position in its stream; empty: from now on. */
	let position = '';
	/** Whether the messages before this page are there. */
	let isLoaded = shown === null;
	/** Leads to older messages than those shown. */
	let older: string | null = null;

	/** Nothing of it is shown any more. */
	const clear = () => {
		transcript.clear();
		position = '';
		older = null;
	};
	const show = () => {
		shown = memory.get().conversation;
		isLoaded = shown === null;
	};

	return {
		transcript,
		sendable,
		clear,
		/** Tells the conversations of several people and deployments apart, in what the browser keeps. */
		memoryName: () => memory.name,
		id: () => memory.get().conversation,
		pending: () => memory.get().pending,
		reached: () => position,
		isLoaded: () => isLoaded,
		older: () => older,
		keep: (pending: Pending | null) => memory.set({ pending }),
		/** What waits for its turn, as this tab or another one has left it. */
		queued: (): Queued[] => memory.read().queue,
		keepQueued: (message: Queued) => memory.set({ queue: [...memory.read().queue, message] }),
		dropQueued: (key: string) => memory.set({ queue: memory.read().queue.filter((message) => message.key !== key) }),
		dropQueue: () => memory.set({ queue: [] }),
		/** What is not sent yet, by this page or the one before. */
		hasUnsent: () => memory.get().pending?.message === '' || memory.get().queue.length > 0,
		/**
		 * Takes a message out of the queue, to be sent now.
		 * @returns false where another tab has sent or cancelled it
		 */
		beginQueued(pending: Pending): boolean {
			const { queue } = memory.read();
			const rest = queue.filter(({ key }) => key !== pending.key);
			if (rest.length < queue.length) memory.set({ queue: rest, pending });
			return rest.length < queue.length;
		},

		/** Somebody is to speak who is not asked: a person has it in hand, or nobody has answered yet. */
		awaitsPerson(): boolean {
			const last = transcript.list().at(-1);
			return last?.author.type === 'human' || (last?.role === 'user' && last.status === 'completed');
		},

		/** What the visitor wrote last is stored, and no model writes a reply: a person is to answer. */
		isUnanswered(): boolean {
			const last = transcript.list().at(-1);
			return last?.role === 'user' && last.status === 'completed';
		},

		/** Whether the browser keeps another one by now, as this storage event tells: a tab of the same visitor began it. */
		isElsewhere: ({ key }: StorageEvent) => key === memory.name && memory.read().conversation !== shown,
		/** Goes on with the one that the browser keeps. */
		change(): void {
			clear();
			show();
		},
		/**
		 * Goes on with the one of whoever this token is for.
		 * @returns whether that is another one; where it is not, nothing changes: what there is may be kept nowhere but here
		 */
		changeTo(jwt: string): boolean {
			const theirs = rememberedAt(deploymentId, jwt);
			if (theirs.name === memory.name) return false;
			memory = theirs;
			clear();
			show();
			return true;
		},
		/** There is none any more; what is shown stays. */
		forget(): void {
			memory.set({ conversation: null, pending: null });
			position = '';
			older = null;
			show();
		},

		/** Takes in the newest messages; what they tell in the order in which it happened. */
		take({ data, next_cursor }: HistoryPage): Told[] {
			const told: Told[] = [];
			for (const message of [...data].reverse()) {
				const known = transcript.get(message.id);
				transcript.merge(message);
				if (isLoaded && known?.status !== message.status && message.role === 'assistant') told.push({ ended: message });
			}
			if (!isLoaded) older = next_cursor;
			isLoaded = true;
			return told;
		},
		/** Takes in messages from before those that are shown. */
		takeOlder({ data, next_cursor }: HistoryPage): void {
			for (const message of data) transcript.merge(message);
			older = next_cursor;
		},
		/** Takes in what a stream tells. */
		hear({ id, event, data }: StreamEvent): Told {
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
					return { begun: message.status === 'in_progress' };
				case 'message.delta':
					transcript.change(message_id, { searching: false });
					transcript.grow(message_id, index, delta);
					break;
				case 'message.reset':
					transcript.change(message_id, { content: '', status: 'in_progress', searching: false });
					break;
				case 'tool.started':
				case 'tool.completed':
					transcript.change(message_id, { searching: event === 'tool.started' });
					break;
				case 'message.completed':
				case 'message.failed':
					transcript.store(message);
					return { ended: message };
			}
			return {};
		},

		/**
		 * A message that was on its way is stored under an id.
		 * @returns whether that was not known before
		 */
		store(pending: Pending, id: string, conversation: string): boolean {
			const isNew = pending.message === '';
			transcript.remove(pending.key);
			pending.message = id;
			sendable.set(id, pending);
			shown = conversation;
			memory.set({ conversation, pending });
			return isNew;
		},
	};
}
