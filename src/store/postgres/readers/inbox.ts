import type {
	InboxFilter,
	InboxMatch,
	InboxPage,
	InboxReader,
	InboxReaderIdentity,
	InboxRow,
	MessagePreview,
	SearchTerm,
} from '../../inbox.ts';
import {
	activityOf,
	collectPage,
	type InboxStep,
	MAX_COUNTED,
	matchesFilter,
	PREVIEW_CHARS,
	ROWS_PER_STEP,
} from '../../inbox-page.ts';
import type { ListPosition } from '../../readers.ts';
import { indexQuery } from '../inbox/message-index.ts';
import type { Sql } from '../sql.ts';
import { INBOX_COLUMNS, WITH_READS } from './inbox-columns.ts';
import { type Hit, MessageSearch, positionOf } from './message-search.ts';

/** Queries about the inbox. Those with filters read the index of one filter, and test the rows for the others. */
export class PostgresInboxReader implements InboxReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async list(
		filter: InboxFilter,
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage> {
		const sql = `SELECT ${INBOX_COLUMNS} FROM inbox_rows AS rows ${WITH_READS}
			WHERE rows.workspace_id = @workspace_id AND status = @status AND ${conditionOf(filter)}
			AND (activity_at, rows.conversation_id) < (@at, @id)
			ORDER BY activity_at DESC, rows.conversation_id DESC LIMIT ${ROWS_PER_STEP}`;
		const { workspaceId: workspace_id, status, deploymentId = null, assigneeId = null } = filter;
		const values = { workspace_id, status, deployment_id: deploymentId, assignee_id: assigneeId, reader: reader.id };
		const step = async ({ at, id }: ListPosition): Promise<InboxStep<InboxRow>> => {
			const items = await this.#sql.all<InboxRow>(sql, { ...values, at, id });
			const last = items.length < ROWS_PER_STEP ? undefined : items.at(-1);
			return { items, next: last === undefined ? null : activityOf(last) };
		};
		return collectPage(step, activityOf, limit, after, (row) => (matchesFilter(row, filter, reader) ? row : null));
	}

	async search(
		filter: InboxFilter,
		terms: readonly SearchTerm[],
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage<InboxMatch>> {
		const query = indexQuery(terms);
		if (query === null) return { rows: [], next: null };
		const search = new MessageSearch(this.#sql, filter.workspaceId, query, reader.id, after);
		const seen = new Set<string>();
		return collectPage<Hit, InboxMatch>(
			(position) => search.step(position),
			positionOf,
			limit,
			after,
			({ message_id, created_at: _, is_shown, ...row }) => {
				if (seen.has(row.conversation_id)) return null;
				seen.add(row.conversation_id);
				if (row.workspace_id !== filter.workspaceId || !matchesFilter(row, filter, reader)) return null;
				return is_shown ? null : { ...row, message_id };
			},
		);
	}

	row(conversationId: string, readerId: string): Promise<InboxRow | undefined> {
		return this.#sql.get(
			`SELECT ${INBOX_COLUMNS} FROM inbox_rows AS rows ${WITH_READS} WHERE rows.conversation_id = @conversation_id`,
			{ conversation_id: conversationId, reader: readerId },
		);
	}

	async preview(conversationId: string): Promise<MessagePreview | undefined> {
		const found = await this.#sql.get<MessagePreview & { author: unknown }>(
			`SELECT id, role, author, left(content, ${PREVIEW_CHARS}) AS text, status, created_at FROM messages
			 WHERE conversation_id = @conversation_id ORDER BY seq DESC LIMIT 1`,
			{ conversation_id: conversationId },
		);
		return found && { ...found, author: JSON.parse(found.author as unknown as string) };
	}

	async messagesSince(conversationId: string, at: number): Promise<number> {
		const row = await this.#sql.get<{ count: number }>(
			`SELECT count(*) AS count FROM (
				SELECT created_at FROM messages WHERE conversation_id = @conversation_id ORDER BY seq DESC LIMIT ${MAX_COUNTED}
			 ) AS newest WHERE created_at > @at`,
			{ conversation_id: conversationId, at },
		);
		return row?.count ?? 0;
	}

	async readBefore(readerId: string): Promise<number> {
		const row = await this.#sql.get<{ read_before: number }>(
			'SELECT read_before FROM inbox_readers WHERE reader = @reader',
			{ reader: readerId },
		);
		return row?.read_before ?? 0;
	}

	async progress(): Promise<{ seq: number; isFilled: boolean }> {
		const row = await this.#sql.get<{ seq: number; filled_conversation: string | null }>(
			'SELECT seq, filled_conversation FROM inbox_progress',
		);
		return { seq: row?.seq ?? 0, isFilled: row?.filled_conversation === null };
	}
}

/** The condition that the fewest rows fulfil. An index has only such rows. */
function conditionOf(filter: InboxFilter): string {
	if (filter.isWaiting) return 'waiting_since IS NOT NULL';
	if (filter.isRatedDown) return 'rated_down = 1';
	if (filter.assigneeId) return 'assignee_id = @assignee_id';
	if (filter.isUnanswered) return 'unanswered = 1';
	if (filter.deploymentId) return 'deployment_id = @deployment_id';
	return 'true';
}
