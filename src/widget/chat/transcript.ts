import type { WidgetMessage } from '../../contract/index.ts';

/** A message as it is displayed. Objects are replaced, not changed. */
export interface DisplayedMessage
	extends Pick<WidgetMessage, 'id' | 'role' | 'author' | 'content' | 'citations' | 'feedback' | 'created_at'> {
	/** The server has not stored messages with `sending`, `waiting` or `unsent`. */
	status: WidgetMessage['status'] | 'sending' | 'waiting' | 'unsent';
	/** A tool call for this reply is running. */
	toolRunning: boolean;
	/** The visitor has rated the reply. `ask`: the form for a reason is shown. */
	feedbackState_?: 'done' | 'ask' | undefined;
}

/** Time of a message that is not stored. Sorts after all ISO 8601 timestamps. */
export const LOCAL_TIME = '~';

/** The messages of a conversation in order. Repeated and overlapping updates from events and lists are merged. */
export type Transcript = ReturnType<typeof createTranscript>;

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
		/** Whether a reply is in progress. */
		isWriting_: () => [...byId.values()].some(({ status }) => status === 'in_progress'),
		/** Stores a message from the event stream. */
		store(message: WidgetMessage) {
			put({ ...message, toolRunning: false });
		},
		/** Stores a message from a list, which may be older than the state from the event stream. */
		merge(message: WidgetMessage) {
			const known = byId.get(message.id);
			if (message.status !== 'in_progress' || !known) this.store(message);
		},
		/** Adds a message that is being sent. */
		send({ key, content }: { key: string; content: string }) {
			put(localMessage(key, 'user', content, 'sending'));
		},
		/** Marks a message as stored and its reply as failed, although the server has sent neither of them. */
		fail(key: string, reply: string) {
			change(key, { status: 'completed' });
			put(localMessage(reply, 'assistant', '', 'failed'));
		},
		/** Appends text at its offset in UTF-16 code units. A repeated delta changes nothing. */
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
	// Unsent messages keep the order in which they were added. Ids decide between messages of the same millisecond.
	return one.created_at === LOCAL_TIME ? 0 : one.id < other.id ? -1 : 1;
}

/** A message that does not come from the server. */
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
