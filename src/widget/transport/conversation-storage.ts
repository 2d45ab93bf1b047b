import type { SendRequest } from './requests.ts';

/** A message that may have to be sent again, because it has no completed reply yet. */
export interface PendingMessage extends SendRequest {
	/** The stored message's id; empty until the server has confirmed it. */
	message: string;
	/** Time of the first attempt (milliseconds since the epoch). */
	at: number;
}

/** A message in the queue. */
export interface QueuedMessage {
	key: string;
	content: string;
	/** When it was written (milliseconds since the epoch). */
	at: number;
}

/** What a widget stores in the browser. */
export interface StoredConversation {
	conversation: string | null;
	pending: PendingMessage | null;
	/** In the order in which they were written. */
	queue: QueuedMessage[];
}

/** What the browser's storage keeps of a visitor's conversation. */
export type ConversationStorage = ReturnType<typeof openConversationStorage>;

/**
 * The stored conversation of a visitor, by deployment and token subject. If the browser refuses storage, it lasts as long as
 * the page.
 */
export function openConversationStorage(deploymentId: string, jwt: string | null) {
	const name = `parley:${deploymentId}${subjectOf(jwt)}`;
	let current: StoredConversation = { conversation: null, pending: null, queue: [] };
	let isPersistent = true;
	const read = (): StoredConversation => {
		try {
			const found = isPersistent ? JSON.parse(localStorage.getItem(name) ?? '{}') : current;
			const { conversation = null, pending = null, queue } = found;
			current = { conversation, pending, queue: Array.isArray(queue) ? queue : [] };
		} catch {}
		return current;
	};
	read();
	return {
		/** The key in `localStorage`, by deployment and visitor. */
		name,
		get: (): StoredConversation => current,
		/** Reads the storage again: another tab may have changed it. */
		read,
		set(change: Partial<StoredConversation>): void {
			current = { ...read(), ...change };
			try {
				if (current.conversation || current.pending || current.queue.length)
					localStorage.setItem(name, JSON.stringify(current));
				else localStorage.removeItem(name);
			} catch {
				isPersistent = false;
			}
		},
	};
}

/** Two people who share a browser do not share a conversation. The token is not verified here: the server does that. */
function subjectOf(jwt: string | null): string {
	if (!jwt) return '';
	try {
		const payload = (jwt.split('.')[1] as string).replace(/-/g, '+').replace(/_/g, '/');
		return `:${JSON.parse(atob(payload)).sub}`;
	} catch {
		return ':?';
	}
}
