import type { SpendingReader } from '../../readers.ts';
import type { Reserved, SpendingDimension, SpendingQuery, SpendingSum, SpendingSums } from '../../spending.ts';
import type { Prepare } from '../statements.ts';

/** Above every sum. */
const FIRST = { spent: Number.MAX_SAFE_INTEGER, key: '\u{10ffff}' };
/** After a colon in the order of texts. */
const AFTER_COLON = ';';

/** Queries about costs. */
export class SqliteSpendingReader implements SpendingReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async reservedFor(messageId: string): Promise<Reserved | null> {
		const found = this.#prepare('SELECT amount, day FROM spending_reservations WHERE message_id = ?').get(messageId);
		return (found as Reserved | undefined) ?? null;
	}

	async hasReservations(): Promise<boolean> {
		return this.#prepare('SELECT 1 FROM spending_reservations LIMIT 1').get() !== undefined;
	}

	async sumsOf(
		workspaceId: string,
		dimension: SpendingDimension,
		account: string,
		from: number,
		to: number,
	): Promise<SpendingSums> {
		return this.#prepare(
			`SELECT coalesce(sum(spent), 0) AS spent, coalesce(sum(reserved), 0) AS reserved FROM spending
			 WHERE workspace_id = ? AND dimension = ? AND account = ? AND day BETWEEN ? AND ?`,
		).get(workspaceId, dimension, account, from, to) as SpendingSums;
	}

	async list(query: SpendingQuery): Promise<SpendingSum[]> {
		return query.groupBy === 'day' ? this.#days(query) : this.#accounts(query, query.groupBy);
	}

	#days({ workspaceId, from, to, deploymentId, after, limit }: SpendingQuery): SpendingSum[] {
		const last = after === undefined ? to : Math.min(to, Number(after.key) - 1);
		const account = deploymentId === undefined ? ['workspace', workspaceId] : ['deployment', deploymentId];
		return this.#prepare(
			`SELECT CAST(day AS TEXT) AS key, spent, reserved FROM spending
			 WHERE workspace_id = ? AND dimension = ? AND account = ? AND day BETWEEN ? AND ? ORDER BY day DESC LIMIT ?`,
		).all(workspaceId, ...account, from, last, limit) as SpendingSum[];
	}

	#accounts(
		{ workspaceId, from, to, deploymentId, after = FIRST, limit }: SpendingQuery,
		dimension: Exclude<SpendingDimension, 'workspace'>,
	): SpendingSum[] {
		const key = dimension === 'model' ? `substr(account, instr(account, ':') + 1)` : 'account';
		const [lowest, highest] =
			deploymentId === undefined
				? ['', FIRST.key]
				: dimension === 'deployment'
					? [deploymentId, deploymentId]
					: [`${deploymentId}:`, `${deploymentId}${AFTER_COLON}`];
		return this.#prepare(
			`SELECT * FROM (
				SELECT ${key} AS key, sum(spent) AS spent, sum(reserved) AS reserved FROM spending
				WHERE workspace_id = ? AND dimension = ? AND account BETWEEN ? AND ? AND day BETWEEN ? AND ? GROUP BY 1
			) WHERE (spent, key) < (?, ?) ORDER BY spent DESC, key DESC LIMIT ?`,
		).all(workspaceId, dimension, lowest, highest, from, to, after.spent, after.key, limit) as SpendingSum[];
	}
}
