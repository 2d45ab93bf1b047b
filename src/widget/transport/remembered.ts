import type { Outgoing } from './requests.ts';

/** A message that may have to be sent again: its reply has not ended well yet. */
export interface Pending extends Outgoing {
	/** The stored message's id; empty until the server has told it. */
	message: string;
	/** When it was sent first (milliseconds since the epoch). */
	at: number;
}

/** A message that waits for its turn. */
export interface Queued {
	key: string;
	content: string;
	/** When it was written (milliseconds since the epoch). */
	at: number;
}

/** What a widget keeps beyond the page. */
export interface Memory {
	conversation: string | null;
	pending: Pending | null;
	/** In the order in which they were written. */
	queue: Queued[];
}

/**
 * Where a visitor's conversation is kept, by deployment and by who the visitor is. Where the browser keeps nothing, it
 * lasts as long as the page.
 */
export function rememberedAt(deploymentId: string, jwt: string | null) {
	const name = `parley:${deploymentId}${subjectOf(jwt)}`;
	let held: Memory = { conversation: null, pending: null, queue: [] };
	let isKept = true;
	const read = (): Memory => {
		try {
			const found = isKept ? JSON.parse(localStorage.getItem(name) ?? '{}') : held;
			const { conversation = null, pending = null, queue } = found;
			held = { conversation, pending, queue: Array.isArray(queue) ? queue : [] };
		} catch {}
		return held;
	};
	read();
	return {
		/** Tells two people's memories apart. */
		name,
		get: (): Memory => held,
		/** As another tab may have left it. */
		read,
		set(change: Partial<Memory>): void {
			held = { ...read(), ...change };
			try {
				if (held.conversation || held.pending || held.queue.length) localStorage.setItem(name, JSON.stringify(held));
				else localStorage.removeItem(name);
			} catch {
				isKept = false;
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
