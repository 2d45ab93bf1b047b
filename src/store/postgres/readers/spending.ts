import type { SpendingReader } from '../../readers.ts';
import type { Reserved, SpendingDimension, SpendingQuery, SpendingSum, SpendingSums } from '../../spending.ts';
import type { Sql } from '../sql.ts';

/** Above every sum. */
const FIRST = { spent: Number.MAX_SAFE_INTEGER, key: '\u{10ffff}' };
/** After a colon in the order of texts. */
const AFTER_COLON = ';';

/** Queries about costs. */
export class PostgresSpendingReader implements SpendingReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async reservedFor(messageId: string): Promise<Reserved | null> {
		const found = await this.#sql.get<Reserved>(
			'SELECT amount, day FROM spending_reservations WHERE message_id = @message_id',
			{ message_id: messageId },
		);
		return found ?? null;
	}

	async hasReservations(): Promise<boolean> {
		return (await this.#sql.get('SELECT 1 FROM spending_reservations LIMIT 1')) !== undefined;
	}

	async sumsOf(
		workspaceId: string,
		dimension: SpendingDimension,
		account: string,
		from: number,
		to: number,
	): Promise<SpendingSums> {
		const sums = await this.#sql.get<SpendingSums>(
			`SELECT coalesce(sum(spent), 0)::bigint AS spent, coalesce(sum(reserved), 0)::bigint AS reserved FROM spending
			 WHERE workspace_id = @workspace_id AND dimension = @dimension AND account = @account AND day BETWEEN @from AND @to`,
			{ workspace_id: workspaceId, dimension, account, from, to },
		);
		return sums ?? { spent: 0, reserved: 0 };
	}

	async list(query: SpendingQuery): Promise<SpendingSum[]> {
		return query.groupBy === 'day' ? this.#days(query) : this.#accounts(query, query.groupBy);
	}

	#days({ workspaceId, from, to, deploymentId, after, limit }: SpendingQuery): Promise<SpendingSum[]> {
		return this.#sql.all<SpendingSum>(
			`SELECT day::text AS key, spent, reserved FROM spending WHERE workspace_id = @workspace_id AND dimension = @dimension
			 AND account = @account AND day BETWEEN @from AND @last ORDER BY day DESC LIMIT @limit`,
			{
				workspace_id: workspaceId,
				dimension: deploymentId === undefined ? 'workspace' : 'deployment',
				account: deploymentId ?? workspaceId,
				from,
				last: after === undefined ? to : Math.min(to, Number(after.key) - 1),
				limit,
			},
		);
	}

	#accounts(
		{ workspaceId, from, to, deploymentId, after = FIRST, limit }: SpendingQuery,
		dimension: Exclude<SpendingDimension, 'workspace'>,
	): Promise<SpendingSum[]> {
		const key = dimension === 'model' ? `substr(account, strpos(account, ':') + 1)` : 'account';
		const [lowest, highest] =
			deploymentId === undefined
				? ['', FIRST.key]
				: dimension === 'deployment'
					? [deploymentId, deploymentId]
					: [`${deploymentId}:`, `${deploymentId}${AFTER_COLON}`];
		return this.#sql.all<SpendingSum>(
			`SELECT * FROM (
				SELECT ${key} AS key, sum(spent)::bigint AS spent, sum(reserved)::bigint AS reserved FROM spending
				WHERE workspace_id = @workspace_id AND dimension = @dimension AND account BETWEEN @lowest AND @highest
				AND day BETWEEN @from AND @to GROUP BY 1
			 ) AS sums WHERE (spent, key) < (@spent, @key) ORDER BY spent DESC, key DESC LIMIT @limit`,
			{
				...{ workspace_id: workspaceId, dimension, lowest, highest, from, to, limit },
				spent: after.spent,
				key: after.key,
			},
		);
	}
}
