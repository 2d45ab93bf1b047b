import { AppError, type Clock, timestamp, timestampOrNull } from '../base/index.ts';
import type { InboxEntry } from '../contract/index.ts';
import { presentConversation } from '../conversations/index.ts';
import {
	type InboxFilter,
	type InboxMatch,
	type InboxPage,
	type InboxReaderIdentity,
	type InboxRow,
	type ListPosition,
	prepareChange,
	type SearchTerm,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import { excerptOf } from './excerpt.ts';
import type { InboxProjector } from './projector.ts';
import { searchTerms } from './search-terms.ts';

/** How long a request waits until the inbox has what was committed before it. */
const FRESHNESS_MS = 3_000;
/** The highest count. */
const MAX_COUNTED = 100;

export interface InboxOptions {
	store: Store;
	projector: Pick<InboxProjector, 'reach'>;
	clock: Clock;
	freshnessMs?: number | undefined;
}

/** The person or program that reads. */
export interface InboxUser {
	workspaceId: string;
	/** The id of a user or of an API key. */
	id: string;
	/** When it was created (ms since the epoch): what is older counts as read. */
	since: number;
}

/** Conversations as the people see them who take care of them: by activity, with what each has read. */
export class Inbox {
	readonly #store: Store;
	readonly #projector: InboxOptions['projector'];
	readonly #clock: Clock;
	readonly #freshnessMs: number;

	constructor({ store, projector, clock, freshnessMs = FRESHNESS_MS }: InboxOptions) {
		this.#freshnessMs = freshnessMs;
		this.#store = store;
		this.#projector = projector;
		this.#clock = clock;
	}

	/** A page of conversations: by activity, or those with a message that matches a search. */
	async list(
		user: InboxUser,
		filter: InboxFilter,
		{ search, after, limit }: { search: string | undefined; after: ListPosition | undefined; limit: number },
	): Promise<{ entries: InboxEntry[]; next: ListPosition | null }> {
		await this.#projector.reach(this.#freshnessMs);
		const reader = await this.#reader(user);
		const terms = search === undefined ? null : searchTerms(search);
		const { rows, next } = await this.#rows(filter, terms, reader, after, limit);
		const entries = await Promise.all(rows.map((row) => this.#entry(row, reader, terms ?? [])));
		return { entries: entries.filter((entry) => entry !== null), next };
	}

	/** @throws AppError `not_found` */
	async entry(user: InboxUser, conversationId: string): Promise<InboxEntry> {
		await this.#requireConversation(user, conversationId);
		await this.#projector.reach(this.#freshnessMs);
		const row = await this.#store.inbox.row(conversationId, user.id);
		const entry = row && (await this.#entry(row, await this.#reader(user), []));
		if (!entry) throw new AppError('not_found', 'The conversation does not exist.');
		return entry;
	}

	/** Active conversations that need attention, each count up to 100. @param assigneeId null: the reader is no user */
	async counts(
		user: InboxUser,
		assigneeId: string | null,
	): Promise<{ unread: number; waiting: number; assigned: number }> {
		await this.#projector.reach(this.#freshnessMs);
		const reader = await this.#reader(user);
		const count = async (filter: Partial<InboxFilter>) => {
			const all: InboxFilter = { workspaceId: user.workspaceId, status: 'active', ...filter };
			return (await this.#store.inbox.list(all, reader, undefined, MAX_COUNTED)).rows.length;
		};
		return {
			unread: await count({ isUnread: true }),
			waiting: await count({ isWaiting: true }),
			assigned: assigneeId === null ? 0 : await count({ assigneeId }),
		};
	}

	/**
	 * Sets how many messages of a conversation the reader has read. @param lastRead absent: all of them
	 * @throws AppError `not_found`
	 */
	markRead(
		user: InboxUser,
		conversationId: string,
		lastRead: number | undefined,
	): UncommittedChange<{ conversation_id: string; last_read: number; unread_count: number }> {
		return prepareChange(this.#store, async () => {
			const { message_count } = await this.#requireConversation(user, conversationId);
			const seq = Math.min(lastRead ?? message_count, message_count);
			return {
				commit: { write: [{ op: 'inbox.read', reader: user.id, conversation_id: conversationId, seq }] },
				result: { conversation_id: conversationId, last_read: seq, unread_count: message_count - seq },
			};
		});
	}

	/** Marks everything until now as read. */
	markAllRead(user: InboxUser): UncommittedChange<{ read_before: string }> {
		return prepareChange(this.#store, async () => {
			const at = this.#clock.now();
			return {
				commit: { write: [{ op: 'inbox.read_before', reader: user.id, at }] },
				result: { read_before: timestamp(at) },
			};
		});
	}

	async #rows(
		filter: InboxFilter,
		terms: readonly SearchTerm[] | null,
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage<InboxRow | InboxMatch>> {
		if (terms === null) return this.#store.inbox.list(filter, reader, after, limit);
		if (terms.length === 0) return { rows: [], next: null };
		return this.#store.inbox.search(filter, terms, reader, after, limit);
	}

	/** Null: the conversation was erased meanwhile. */
	async #entry(
		row: InboxRow | InboxMatch,
		reader: InboxReaderIdentity,
		terms: readonly SearchTerm[],
	): Promise<InboxEntry | null> {
		const conversation = await this.#store.get('conversations', row.conversation_id);
		if (!conversation) return null;
		const last = await this.#store.inbox.preview(row.conversation_id);
		const found = 'message_id' in row ? await this.#store.get('messages', row.message_id) : undefined;
		return {
			conversation: presentConversation(conversation),
			last_message: last ? { ...last, created_at: timestamp(last.created_at) } : null,
			unread_count: await this.#unreadCount(row, reader),
			waiting_since: timestampOrNull(row.waiting_since),
			rated_down: row.rated_down === 1,
			unanswered: row.unanswered === 1,
			match: found ? { message_id: found.id, excerpt: excerptOf(found.content, terms) } : null,
		};
	}

	async #unreadCount(row: InboxRow, { readBefore }: InboxReaderIdentity): Promise<number> {
		if (row.activity_at <= readBefore) return 0;
		const unread = Math.max(0, row.last_seq - (row.read_seq ?? 0));
		// What is older than the time before which everything is read does not count.
		return unread === 0 ? 0 : Math.min(unread, await this.#store.inbox.messagesSince(row.conversation_id, readBefore));
	}

	async #reader({ id, since }: InboxUser): Promise<InboxReaderIdentity> {
		return { id, readBefore: Math.max(since, await this.#store.inbox.readBefore(id)) };
	}

	async #requireConversation({ workspaceId }: InboxUser, id: string) {
		const record = await this.#store.get('conversations', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	}
}
