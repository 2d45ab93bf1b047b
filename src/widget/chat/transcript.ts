import type { WidgetMessage } from '../../contract/index.ts';

/** A message as it is shown; a change makes a new one. */
export interface DisplayedMessage
	extends Pick<WidgetMessage, 'id' | 'role' | 'author' | 'content' | 'citations' | 'feedback' | 'created_at'> {
	/** `sending`, `waiting` and `unsent` are the visitor's that the server has not stored. */
	status: WidgetMessage['status'] | 'sending' | 'waiting' | 'unsent';
	/** A tool is being called for it. */
	toolRunning: boolean;
	/** It was rated here; `ask`: a reason may be given. */
	feedbackState?: 'done' | 'ask' | undefined;
}

/** In place of the time of what is not stored: behind all times. */
export const LOCAL_TIME = '~';

/** The messages of a conversation in their order, however often and on whichever way the server tells of them. */
export function createTranscript() {
	const byId = new Map<string, DisplayedMessage>();
	let sorted: DisplayedMessage[] | null = null;

	const put = (message: DisplayedMessage) => {
		byId.set(message.id, message);
		sorted = null;
	};
	const change = (id: string, set: Partial<DisplayedMessage>) => {
		const message = byId.get(id);
		if (message) put({ ...message, ...set });
	};

	return {
		list: (): readonly DisplayedMessage[] => {
			sorted ??= [...byId.values()].sort((one, other) => compareMessages(one, other));
			return sorted;
		},
		get: (id: string) => byId.get(id),
		/** Whether a reply is being written. */
		isWriting_: () => [...byId.values()].some(({ status }) => status === 'in_progress'),
		/** A message as the server has it now. */
		store(message: WidgetMessage) {
			put({ ...message, toolRunning: false });
		},
		/** The same from a list, which may be older than what the stream has told. */
		merge(message: WidgetMessage) {
			const known = byId.get(message.id);
			if (message.status !== 'in_progress' || !known) this.store(message);
		},
		/** The visitor's message on its way. */
		send({ key, content }: { key: string; content: string }) {
			put(localMessage(key, 'user', content, 'sending'));
		},
		/** It is stored, and the reply to it has failed, though the server has told of neither. */
		fail(key: string, reply: string) {
			change(key, { status: 'completed' });
			put(localMessage(reply, 'assistant', '', 'failed'));
		},
		/** Text at its offset in UTF-16 code units; what was told before changes nothing. */
		appendText_(id: string, index: number, delta: string) {
			const text = byId.get(id)?.content ?? '';
			if (index <= text.length && index + delta.length > text.length)
				change(id, { content: text.slice(0, index) + delta });
		},
		change,
		remove(id: string) {
			byId.delete(id);
			sorted = null;
		},
		clear() {
			byId.clear();
			sorted = null;
		},
	};
}

function compareMessages(one: DisplayedMessage, other: DisplayedMessage): number {
	if (one.created_at !== other.created_at) return one.created_at < other.created_at ? -1 : 1;
	// Of those on their way the one that was sent first is the first; of two in one millisecond the ids tell.
	return one.created_at === LOCAL_TIME ? 0 : one.id < other.id ? -1 : 1;
}

/** A message that the server has not told of. */
export function localMessage(
	id: string,
	role: DisplayedMessage['role'],
	content: string,
	status: DisplayedMessage['status'],
): DisplayedMessage {
	return {
		id,
		role,
		author: { type: role === 'user' ? 'visitor' : 'model', name: null },
		content,
		status,
		citations: [],
		feedback: null,
		created_at: LOCAL_TIME,
		toolRunning: false,
	};
}
