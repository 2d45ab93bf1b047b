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

	async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]> {
		const orderColumn = kind === 'messages' ? 'seq' : 'created_at';
		const { order, limit } = query;
		const { conditions, values } = conditionsOf(kind, orderColumn, query);
		const rows = await this.#sql.all(
			`SELECT ${columnsOf(kind)} FROM ${kind} ${conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''}
			 ORDER BY ${orderColumn} ${order}, id ${order} LIMIT @limit`,
			{ ...values, limit },
		);
		return rows.map((row) => decodeRow(kind, row));
	}
}

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
