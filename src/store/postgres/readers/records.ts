import { columnOf, columnsOf, decodeRow, encodeColumn } from '../../columns/columns.ts';
import type { ListQuery, RecordsReader } from '../../readers.ts';
import type { Kind, Records } from '../../records.ts';
import type { Sql, Values } from '../sql.ts';

/** Records of every kind, by id or as a list. */
export class PostgresRecordsReader implements RecordsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
		const row = await this.#sql.get(`SELECT ${columnsOf(kind)} FROM ${kind} WHERE id = @id`, { id });
		return row === undefined ? undefined : decodeRow(kind, row);
	}

	async getMany<K extends Kind>(kind: K, ids: readonly string[]): Promise<Records[K][]> {
		if (ids.length === 0) return [];
		const rows = await this.#sql.all(`SELECT ${columnsOf(kind)} FROM ${kind} WHERE id = ANY(@ids)`, { ids });
		return rows.map((row) => decodeRow(kind, row));
	}

	async versionsOf(kind: Kind, ids: readonly string[]): Promise<Map<string, number>> {
		if (ids.length === 0) return new Map();
		const text = `SELECT id, version FROM ${kind} WHERE id = ANY(@ids)`;
		const rows = await this.#sql.all<{ id: string; version: number }>(text, { ids });
		return new Map(rows.map(({ id, version }) => [id, version]));
	}

	async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]> {
		const orderColumn = kind === 'messages' ? 'seq' : 'created_at';
		const { order, limit } = query;
		const { conditions, values } = conditionsOf(kind, orderColumn, query);
		const end = `ORDER BY ${orderColumn} ${order}, id ${order} LIMIT @limit`;
		const page = (all: readonly string[]) =>
			`SELECT ${columnsOf(kind)} FROM ${kind} ${all.length ? `WHERE ${all.join(' AND ')}` : ''} ${end}`;
		const text = isByStatusAlone(kind, query.where)
			? `${TYPES_CTE} SELECT ${columnsOf(kind)} FROM found, LATERAL (${page([...conditions, 'event_type = found.name'])}) AS page ${end}`
			: page(conditions);
		const rows = await this.#sql.all(text, { ...values, limit });
		return rows.map((row) => decodeRow(kind, row));
	}
}

/**
 * Deliveries listed by status alone: in the index, their type stands between the status and the order. A page of each type is read,
 * in that order.
 */
function isByStatusAlone(kind: Kind, where: Partial<Records['deliveries']>): boolean {
	const { webhook_id, status, event_type } = where;
	return kind === 'deliveries' && webhook_id !== undefined && status !== undefined && event_type === undefined;
}

/** The types of an endpoint's deliveries with a status; one step in the index for each. */
const TYPES_CTE = `WITH RECURSIVE found (name) AS (
	SELECT min(event_type) FROM deliveries WHERE webhook_id = @webhook_id AND status = @status
	UNION ALL SELECT (
		SELECT min(event_type) FROM deliveries WHERE webhook_id = @webhook_id AND status = @status AND event_type > found.name
	) FROM found WHERE found.name IS NOT NULL
)`;

function conditionsOf<K extends Kind>(
	kind: K,
	orderColumn: string,
	{ where, notNull, createdAfter, createdBefore, after, order }: ListQuery<K>,
): { conditions: string[]; values: Values } {
	const conditions: string[] = [];
	const values: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(where)) {
		if (value === undefined) continue;
		const encoded = encodeColumn(kind, field, value);
		conditions.push(encoded === null ? `${field} IS NULL` : `${field} = @${field}`);
		values[field] = encoded;
	}
	if (notNull !== undefined) conditions.push(`${columnOf(kind, notNull as string)} IS NOT NULL`);
	if (createdAfter !== undefined) {
		conditions.push('created_at > @created_after');
		values.created_after = createdAfter;
	}
	if (createdBefore !== undefined) {
		conditions.push('created_at < @created_before');
		values.created_before = createdBefore;
	}
	if (after) {
		conditions.push(`(${orderColumn}, id) ${order === 'asc' ? '>' : '<'} (@after_at, @after_id)`);
		values.after_at = after.at;
		values.after_id = after.id;
	}
	return { conditions, values };
}
