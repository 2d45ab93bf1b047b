import type { TakenOverBy } from '../contract/index.ts';

/** What a person of the workspace does in a conversation. */
export type PresenceState = 'looking' | 'typing';

/** A person of the workspace who has a conversation open. */
export interface PresentPerson extends TakenOverBy {
	state: PresenceState;
}

interface Entry {
	person: PresentPerson;
	expires: NodeJS.Timeout;
}

/** Clients repeat their state more often than this (ms). */
const LIFETIME_MS: Record<PresenceState, number> = { looking: 60_000, typing: 12_000 };
const MAX_CONVERSATIONS = 10_000;
const MAX_PEOPLE = 50;

/** Who looks at conversations, or types in them. It is only in memory, and a state that is not repeated ends. */
export class Presence implements Disposable {
	readonly #conversations = new Map<string, Map<string, Entry>>();
	readonly #listeners = new Map<string, Set<() => void>>();
	readonly #lifetimeMs: Record<PresenceState, number>;

	constructor(lifetimeMs: Record<PresenceState, number> = LIFETIME_MS) {
		this.#lifetimeMs = lifetimeMs;
	}

	/** The people in a conversation, in the order in which they came. */
	peopleIn(conversationId: string): PresentPerson[] {
		return [...(this.#conversations.get(conversationId)?.values() ?? [])].map(({ person }) => person);
	}

	/** Sets the state of a person; null: the person has left. Beyond the limits of memory it is ignored. */
	set(conversationId: string, { id, name }: TakenOverBy, state: PresenceState | null): void {
		const people = this.#conversations.get(conversationId) ?? new Map<string, Entry>();
		const former = people.get(id);
		if (former) clearTimeout(former.expires);
		if (state === null) {
			people.delete(id);
			if (people.size === 0) this.#conversations.delete(conversationId);
		} else {
			if (!former && (people.size >= MAX_PEOPLE || this.#conversations.size >= MAX_CONVERSATIONS)) return;
			const expires = setTimeout(() => this.set(conversationId, { id, name }, null), this.#lifetimeMs[state]).unref();
			people.set(id, { person: { id, name, state }, expires });
			this.#conversations.set(conversationId, people);
		}
		if (former?.person.state !== (state ?? undefined)) this.notify(conversationId);
	}

	/** A person who has typed has sent the message, and still looks. */
	endTyping(conversationId: string, person: TakenOverBy): void {
		if (this.#conversations.get(conversationId)?.has(person.id)) this.set(conversationId, person, 'looking');
	}

	/** Tells the listeners of a conversation that something about its people has changed. */
	notify(conversationId: string): void {
		for (const listener of this.#listeners.get(conversationId) ?? []) listener();
	}

	/** Calls the listener after each change. Returns a function that ends this. */
	onChange(conversationId: string, listener: () => void): () => void {
		return addListener(this.#listeners, conversationId, listener);
	}

	[Symbol.dispose](): void {
		for (const people of this.#conversations.values()) for (const { expires } of people.values()) clearTimeout(expires);
		this.#conversations.clear();
	}
}

/** Adds a listener under a key. Returns a function that removes it, and the key with its last listener. */
export function addListener(listeners: Map<string, Set<() => void>>, key: string, listener: () => void): () => void {
	const ofKey = listeners.get(key) ?? new Set();
	listeners.set(key, ofKey.add(listener));
	return () => {
		ofKey.delete(listener);
		if (ofKey.size === 0 && listeners.get(key) === ofKey) listeners.delete(key);
	};
}
