import { kindOfId, timestampOrNull } from '../base/index.ts';
import type { ConversationRecord, Store } from '../store/index.ts';
import { Availability } from './availability.ts';
import { Presence } from './presence.ts';
import type { Audience } from './present.ts';

/** What the followers of a conversation get when its people change. */
export type PresenceBody = Record<string, unknown>;

/** The people of workspaces: who is in a conversation, and whether a person is available. */
export class People implements Disposable {
	readonly presence = new Presence();
	readonly availability: Availability;
	readonly #store: Pick<Store, 'get'>;

	constructor(store: Pick<Store, 'get' | 'hints'>) {
		this.#store = store;
		this.availability = new Availability(undefined, store.hints);
	}

	/** Calls the listener when what an audience sees of a conversation's people may have changed. Returns a function that ends this. */
	onChange(conversation: Pick<ConversationRecord, 'id' | 'workspace_id'>, listener: () => void): () => void {
		const ends = [
			this.presence.onChange(conversation.id, listener),
			this.availability.onChange(conversation.workspace_id, listener),
		];
		return () => {
			for (const end of ends) end();
		};
	}

	/** What an audience sees of a conversation's people; null: the conversation was found to be erased. */
	async describe(conversationId: string, audience: Audience): Promise<PresenceBody | null> {
		// The empty list is the same for each conversation, so nothing is read.
		if (audience === 'api' && this.presence.peopleIn(conversationId).length === 0) return NO_PEOPLE.api;
		const record = await this.#store.get('conversations', conversationId);
		if (!record) return null;
		return audience === 'api' ? { people: this.presence.peopleIn(conversationId) } : this.stateForVisitor(record);
	}

	/** Visitors see the person who has taken over, and no other person. */
	stateForVisitor(record: ConversationRecord): PresenceBody {
		const { handled_by, taken_over_by, requested_person_at, contact_email } = record;
		const people = this.presence.peopleIn(record.id);
		const isTyping = people.some(({ id, state }) => id === taken_over_by?.id && state === 'typing');
		const isWaiting = requested_person_at !== null;
		return {
			handled_by,
			// The name of a key is for the workspace's people only.
			person: taken_over_by && {
				name: kindOfId(taken_over_by.id) === 'api_key' ? null : taken_over_by.name,
				typing: isTyping,
			},
			requested_person_at: timestampOrNull(requested_person_at),
			people_available: isWaiting ? this.availability.isAvailable(record.workspace_id) : null,
			has_email: contact_email !== null,
		};
	}

	[Symbol.dispose](): void {
		this.presence[Symbol.dispose]();
		this.availability[Symbol.dispose]();
	}
}

/** What a follower knows before the first event about people: only a difference is sent. */
export const NO_PEOPLE: Record<Audience, PresenceBody> = {
	api: { people: [] },
	visitor: {
		handled_by: 'model',
		person: null,
		requested_person_at: null,
		people_available: null,
		has_email: false,
	},
};
