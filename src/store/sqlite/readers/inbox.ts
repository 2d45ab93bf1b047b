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
import { searchExpression } from '../inbox/search-expression.ts';
import type { Prepare } from '../statements.ts';

const COLUMNS = `rows.conversation_id, workspace_id, status, deployment_id, assignee_id, activity_at, last_seq, waiting_since,
	rated_down, unanswered, reads.seq AS read_seq`;
const WITH_READS =
	'LEFT JOIN inbox_reads AS reads ON reads.reader = @reader AND reads.conversation_id = rows.conversation_id';

/** Queries about the inbox. Those with filters read the index of one filter, and test the rows for the others. */
export class SqliteInboxReader implements InboxReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async list(
		filter: InboxFilter,
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage> {
		const { index, condition } = indexFor(filter);
		const sql = `SELECT ${COLUMNS} FROM inbox_rows AS rows INDEXED BY ${index} ${WITH_READS}
			WHERE workspace_id = @workspaceId AND status = @status AND ${condition}
			AND (activity_at, rows.conversation_id) < (@at, @id)
			ORDER BY activity_at DESC, rows.conversation_id DESC LIMIT ${ROWS_PER_STEP}`;
		const { workspaceId, status, deploymentId = null, assigneeId = null } = filter;
		const values = { workspaceId, status, deploymentId, assigneeId, reader: reader.id };
		const step = async ({ at, id }: ListPosition) =>
			stepOf(this.#prepare(sql).all({ ...values, at, id }) as InboxRow[], activityOf);
		return collectPage(step, activityOf, limit, after, (row) => (matchesFilter(row, filter, reader) ? row : null));
	}

	async search(
		filter: InboxFilter,
		terms: readonly SearchTerm[],
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage<InboxMatch>> {
		const sql = `SELECT row, message_id, conversation_id FROM message_search
			JOIN searchable_messages ON row = message_search.rowid
			WHERE message_search MATCH ? AND message_search.rowid < ? ORDER BY message_search.rowid DESC LIMIT ${ROWS_PER_STEP}`;
		const expression = searchExpression(filter.workspaceId, terms);
		const step = async ({ at }: ListPosition) => stepOf(this.#prepare(sql).all(expression, at) as Hit[], rowOf);
		const seen = new Set<string>();
		return collectPage(step, rowOf, limit, after, (hit) => {
			if (seen.has(hit.conversation_id)) return null;
			seen.add(hit.conversation_id);
			const row = this.#row(hit.conversation_id, reader.id);
			if (row?.workspace_id !== filter.workspaceId || !matchesFilter(row, filter, reader)) return null;
			if (after && this.#hasMatchFrom(after.at, hit.conversation_id, terms)) return null;
			return { ...row, message_id: hit.message_id };
		});
	}

	async row(conversationId: string, readerId: string): Promise<InboxRow | undefined> {
		return this.#row(conversationId, readerId);
	}

	async preview(conversationId: string): Promise<MessagePreview | undefined> {
		const found = this.#prepare(
			`SELECT id, role, author, substr(content, 1, ${PREVIEW_CHARS}) AS text, status, created_at FROM messages
			 WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1`,
		).get(conversationId) as (MessagePreview & { author: unknown }) | undefined;
		return found && { ...found, author: JSON.parse(found.author as unknown as string) };
	}

	async messagesSince(conversationId: string, at: number): Promise<number> {
		return this.#prepare(
			`SELECT count(*) FROM (
				SELECT created_at FROM messages WHERE conversation_id = ? ORDER BY seq DESC LIMIT ${MAX_COUNTED}
			 ) WHERE created_at > ?`,
		)
			.pluck()
			.get(conversationId, at) as number;
	}

	async readBefore(readerId: string): Promise<number> {
		const row = this.#prepare('SELECT read_before FROM inbox_readers WHERE reader = ?').get(readerId);
		return (row as { read_before: number } | undefined)?.read_before ?? 0;
	}

	async progress(): Promise<{ seq: number; isFilled: boolean }> {
		const row = this.#prepare('SELECT seq, filled_conversation FROM inbox_progress').get();
		const { seq, filled_conversation } = row as { seq: number; filled_conversation: string | null };
		return { seq, isFilled: filled_conversation === null };
	}

	#row(conversationId: string, reader: string): InboxRow | undefined {
		return this.#prepare(
			`SELECT ${COLUMNS} FROM inbox_rows AS rows ${WITH_READS} WHERE rows.conversation_id = @conversationId`,
		).get({ conversationId, reader }) as InboxRow | undefined;
	}

	/** Whether a newer message of the conversation matches: then an earlier page has shown it. */
	#hasMatchFrom(row: number, conversationId: string, terms: readonly SearchTerm[]): boolean {
		const sql = 'SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid >= ? LIMIT 1';
		return this.#prepare(sql).get(searchExpression(conversationId, terms), row) !== undefined;
	}
}

interface Hit {
	row: number;
	message_id: string;
	conversation_id: string;
}

const rowOf = ({ row }: Hit): ListPosition => ({ at: row, id: '' });

function stepOf<T>(items: T[], positionOf: (item: T) => ListPosition): InboxStep<T> {
	const last = items.length < ROWS_PER_STEP ? undefined : items.at(-1);
	return { items, next: last === undefined ? null : positionOf(last) };
}

/** The index with the fewest rows that have what the filter asks for. */
function indexFor(filter: InboxFilter): { index: string; condition: string } {
	if (filter.isWaiting) return { index: 'inbox_waiting', condition: 'waiting_since IS NOT NULL' };
	if (filter.isRatedDown) return { index: 'inbox_rated_down', condition: 'rated_down = 1' };
	if (filter.assigneeId) return { index: 'inbox_by_assignee', condition: 'assignee_id = @assigneeId' };
	if (filter.isUnanswered) return { index: 'inbox_unanswered', condition: 'unanswered = 1' };
	if (filter.deploymentId) return { index: 'inbox_by_deployment', condition: 'deployment_id = @deploymentId' };
	return { index: 'inbox_by_activity', condition: 'true' };
}
