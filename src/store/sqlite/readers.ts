import type { Database } from 'better-sqlite3';
import { columnOf, columnsOf, decodeRow, encodeColumn } from '../columns/columns.ts';
import type { ListQuery, Readers } from '../readers.ts';
import type { Kind, Records } from '../records.ts';
import { SqliteAccessReader } from './readers/access.ts';
import { SqliteAssistantsReader } from './readers/assistants.ts';
import { SqliteConversationsReader } from './readers/conversations.ts';
import { deliveryTypes, SqliteDeliveriesReader } from './readers/deliveries.ts';
import { SqliteDocumentsReader } from './readers/documents.ts';
import { SqliteEndUsersReader } from './readers/end-users.ts';
import { SqliteEventsReader } from './readers/events.ts';
import { SqliteIdempotencyReader } from './readers/idempotency.ts';
import { SqliteInboxReader } from './readers/inbox.ts';
import { unionAll } from './readers/list.ts';
import { SqliteSearchIndexReader } from './readers/search-index.ts';
import { SqliteSourcesReader } from './readers/sources.ts';
import { SqliteSpendingReader } from './readers/spending.ts';
import { SqliteStatisticsReader } from './readers/statistics.ts';
import { type Prepare, statementsOf } from './statements.ts';

/** Point reads, lists and the readers of the aggregates, from the prepared statements of one read-only connection. */
export class SqliteReaders implements Readers {
	readonly assistants: SqliteAssistantsReader;
	readonly conversations: SqliteConversationsReader;
	readonly access: SqliteAccessReader;
	readonly idempotency: SqliteIdempotencyReader;
	readonly documents: SqliteDocumentsReader;
	readonly sources: SqliteSourcesReader;
	readonly searchIndex: SqliteSearchIndexReader;
	readonly events: SqliteEventsReader;
	readonly deliveries: SqliteDeliveriesReader;
	readonly endUsers: SqliteEndUsersReader;
	readonly inbox: SqliteInboxReader;
	readonly statistics: SqliteStatisticsReader;
	readonly spending: SqliteSpendingReader;
	readonly #prepare: Prepare;

	constructor(db: Database) {
		const prepare = statementsOf(db);
		this.assistants = new SqliteAssistantsReader(prepare);
		this.conversations = new SqliteConversationsReader(prepare);
		this.access = new SqliteAccessReader(prepare);
		this.idempotency = new SqliteIdempotencyReader(prepare);
		this.documents = new SqliteDocumentsReader(prepare);
		this.sources = new SqliteSourcesReader(prepare);
		this.searchIndex = new SqliteSearchIndexReader(prepare);
		this.events = new SqliteEventsReader(prepare);
		this.deliveries = new SqliteDeliveriesReader(prepare);
		this.endUsers = new SqliteEndUsersReader(prepare);
		this.inbox = new SqliteInboxReader(prepare);
		this.statistics = new SqliteStatisticsReader(prepare);
		this.spending = new SqliteSpendingReader(prepare);
		this.#prepare = prepare;
	}

	async get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf(kind)} FROM ${kind} WHERE id = ?`).get(id);
		return row === undefined ? undefined : decodeRow(kind, row);
	}

	async getMany<K extends Kind>(kind: K, ids: readonly string[]): Promise<Records[K][]> {
		if (ids.length === 0) return [];
		const statement = this.#prepare(
			`SELECT ${columnsOf(kind)} FROM ${kind} WHERE id IN (SELECT value FROM json_each(?))`,
		);
		return statement.all(JSON.stringify(ids)).map((row) => decodeRow(kind, row));
	}

	async versionsOf(kind: Kind, ids: readonly string[]): Promise<Map<string, number>> {
		const statement = this.#prepare(`SELECT id, version FROM ${kind} WHERE id IN (SELECT value FROM json_each(?))`);
		const rows = statement.all(JSON.stringify(ids)) as { id: string; version: number }[];
		return new Map(rows.map(({ id, version }) => [id, version]));
	}

	async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]> {
		const orderColumn = kind === 'messages' ? 'seq' : 'created_at';
		const { conditions, values } = conditionsOf(kind, orderColumn, query);
		const types = kind === 'deliveries' ? this.#typesToMerge(query.where) : null;
		if (types?.length === 0) return [];
		if (types) conditions.push('event_type = ?');
		const sql = `SELECT ${columnsOf(kind)} FROM ${kind} ${conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''}`;
		const rows = this.#prepare(
			`${unionAll(sql, types?.length ?? 1)} ORDER BY ${orderColumn} ${query.order}, id ${query.order} LIMIT ?`,
		).all(...(types?.flatMap((type) => [...values, type]) ?? values), query.limit);
		return rows.map((row) => decodeRow(kind, row));
	}

	/** For deliveries listed by status alone: their types, which stand between the status and the order in the index. */
	#typesToMerge({ webhook_id, status, event_type }: Partial<Records['deliveries']>): string[] | null {
		if (webhook_id === undefined || status === undefined || event_type !== undefined) return null;
		return deliveryTypes(this.#prepare, webhook_id, status);
	}
}

function conditionsOf<K extends Kind>(
	kind: K,
	orderColumn: string,
	{ where, notNull, createdAfter, createdBefore, after, order }: ListQuery<K>,
): { conditions: string[]; values: unknown[] } {
	const conditions: string[] = [];
	const values: unknown[] = [];
	for (const [field, value] of Object.entries(where)) {
		if (value === undefined) continue;
		const encoded = encodeColumn(kind, field, value);
		// With = a query can use an index of the rows in which the field is not null.
		conditions.push(encoded === null ? `${field} IS NULL` : `${field} = ?`);
		if (encoded !== null) values.push(encoded);
	}
	if (notNull !== undefined) conditions.push(`${columnOf(kind, notNull as string)} IS NOT NULL`);
	if (createdAfter !== undefined) {
		conditions.push('created_at > ?');
		values.push(createdAfter);
	}
	if (createdBefore !== undefined) {
		conditions.push('created_at < ?');
		values.push(createdBefore);
	}
	if (after) {
		conditions.push(`(${orderColumn}, id) ${order === 'asc' ? '>' : '<'} (?, ?)`);
		values.push(after.at, after.id);
	}
	return { conditions, values };
}
