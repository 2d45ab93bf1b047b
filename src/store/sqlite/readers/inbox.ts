import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type {
	InboxFilter,
	InboxMatch,
	InboxPage,
	InboxReader,
	InboxReaderIdentity,
	InboxRow,
	MessagePreview,
} from '../../inbox.ts';
import type { ListPosition } from '../../readers.ts';
import type { Prepare } from '../statements.ts';

/** Rows that are read in one step, before the event loop may go on. */
const ROWS_PER_STEP = 250;
/** Steps of one request. Beyond them the page is short, and its reader continues with the next page. */
const MAX_STEPS = 20;
const PREVIEW_CHARS = 300;
const MAX_COUNTED = 100;

const COLUMNS = `rows.conversation_id, workspace_id, status, deployment_id, assignee_id, activity_at, last_seq, waiting_since,
	rated_down, unanswered, reads.seq AS read_seq`;
const WITH_READS =
	'LEFT JOIN inbox_reads AS reads ON reads.reader = @reader AND reads.conversation_id = rows.conversation_id';
/** The words of a search in the messages of a workspace or of a conversation. */
const within = (id: string, expression: string) => `place : "${id.replaceAll('_', '')}" AND text : (${expression})`;

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
		const step = async ({ at, id }: ListPosition) => this.#prepare(sql).all({ ...values, at, id }) as InboxRow[];
		return collect(step, activityOf, limit, after, (row) => (matches(row, filter, reader) ? row : null));
	}

	async search(
		filter: InboxFilter,
		expression: string,
		reader: InboxReaderIdentity,
		after: ListPosition | undefined,
		limit: number,
	): Promise<InboxPage<InboxMatch>> {
		const sql = `SELECT row, message_id, conversation_id FROM message_search
			JOIN searchable_messages ON row = message_search.rowid
			WHERE message_search MATCH ? AND message_search.rowid < ? ORDER BY message_search.rowid DESC LIMIT ${ROWS_PER_STEP}`;
		const step = async ({ at }: ListPosition) =>
			this.#prepare(sql).all(within(filter.workspaceId, expression), at) as Hit[];
		const seen = new Set<string>();
		return collect(
			step,
			({ row }) => ({ at: row, id: '' }),
			limit,
			after,
			(hit) => {
				if (seen.has(hit.conversation_id)) return null;
				seen.add(hit.conversation_id);
				const row = this.#row(hit.conversation_id, reader.id);
				if (row?.workspace_id !== filter.workspaceId || !matches(row, filter, reader)) return null;
				if (after && this.#hasMatchFrom(after.at, hit.conversation_id, expression)) return null;
				return { ...row, message_id: hit.message_id };
			},
		);
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
	#hasMatchFrom(row: number, conversationId: string, expression: string): boolean {
		const sql = 'SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid >= ? LIMIT 1';
		return this.#prepare(sql).get(within(conversationId, expression), row) !== undefined;
	}
}

interface Hit {
	row: number;
	message_id: string;
	conversation_id: string;
}

const START: ListPosition = { at: Number.MAX_SAFE_INTEGER, id: '\u{10ffff}' };

const activityOf = ({ activity_at, conversation_id }: InboxRow): ListPosition => ({
	at: activity_at,
	id: conversation_id,
});

/** Reads in steps until enough rows are found, the end is reached, or the bound of steps. */
async function collect<T, R>(
	readAfter: (position: ListPosition) => Promise<T[]>,
	positionOf: (item: T) => ListPosition,
	limit: number,
	after: ListPosition | undefined,
	accept: (item: T) => R | null,
): Promise<InboxPage<R>> {
	const rows: R[] = [];
	let position = after ?? START;
	for (let steps = 0; steps < MAX_STEPS; steps++) {
		if (steps > 0) await yieldToEventLoop();
		const items = await readAfter(position);
		for (const item of items) {
			const row = accept(item);
			// One more than the page holds: something follows the page.
			if (row !== null && rows.length === limit) return { rows, next: position };
			position = positionOf(item);
			if (row !== null) rows.push(row);
		}
		if (items.length < ROWS_PER_STEP) return { rows, next: null };
	}
	return { rows, next: position };
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

function matches(row: InboxRow, filter: InboxFilter, { readBefore }: InboxReaderIdentity): boolean {
	const is = (wanted: boolean | undefined, actual: boolean) => wanted === undefined || wanted === actual;
	const isUnread = row.activity_at > readBefore && (row.read_seq ?? 0) < row.last_seq;
	return (
		row.status === filter.status &&
		is(filter.isWaiting, row.waiting_since !== null) &&
		is(filter.isRatedDown, row.rated_down === 1) &&
		is(filter.isUnanswered, row.unanswered === 1) &&
		is(filter.isUnread, isUnread) &&
		(filter.deploymentId === undefined || filter.deploymentId === row.deployment_id) &&
		(filter.assigneeId === undefined || filter.assigneeId === row.assignee_id)
	);
}
