import { AppError, Semaphore } from '../../base/index.ts';
import type { LimitedAttempt, SharedLimits, UsedRequests } from '../shared-limits.ts';
import type { Sql } from './sql.ts';

/** What one node has published at once. */
interface Publication {
	node: string;
	/** Of this node, in order. */
	number: number;
	used: [key: string, used: number, perMinute: number][];
}

/** Nodes whose last publication is remembered. Each start of a node is another one. */
const MAX_NODES = 1_000;
const MAX_CONCURRENT_ATTEMPTS = 2;
const MAX_WAITING_ATTEMPTS = 1_000;

/** Publishes, removes what is old, and reads what other nodes have published. What this statement inserts is not among it. */
const EXCHANGE = `WITH removed AS (
		DELETE FROM used_requests WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM used_requests WHERE published_at < clock_timestamp() - interval '10 seconds' LIMIT 1000
			FOR UPDATE SKIP LOCKED
		))
	), published AS (
		INSERT INTO used_requests (node, number, used, published_at)
		SELECT @node::text, @number::bigint, @used::jsonb, clock_timestamp() WHERE @used::jsonb <> '[]'
	)
	SELECT node, number, used FROM used_requests
	WHERE node <> @node::text AND number > coalesce((@seen::jsonb ->> node::text)::bigint, 0)
	AND published_at >= clock_timestamp() - interval '10 seconds'
	ORDER BY node, number`;

/** The limits that one node shares with the others. */
export class PostgresSharedLimits implements SharedLimits {
	readonly #sql: Sql;
	readonly #node: string;
	/** Attempts at one account wait for one row: they must not take all connections. */
	readonly #attempts = new Semaphore(MAX_CONCURRENT_ATTEMPTS, MAX_WAITING_ATTEMPTS);
	#number = 0;
	/** The number of the last publication of each node that was read. */
	readonly #seen = new Map<string, number>();

	/** @param sql carries out each statement once: a repeated count would count twice */
	constructor(sql: Sql, node: string) {
		this.#sql = sql;
		this.#node = node;
	}

	async exchangeUse(used: readonly UsedRequests[]): Promise<UsedRequests[]> {
		const rows = await this.#sql.all<Publication>(EXCHANGE, {
			node: this.#node,
			number: ++this.#number,
			used: JSON.stringify(used.map((one) => [one.key, one.used, one.perMinute])),
			seen: JSON.stringify(Object.fromEntries(this.#seen)),
		});
		for (const { node, number } of rows) this.#remember(node, number);
		return rows.flatMap((row) => row.used.map(([key, count, perMinute]) => ({ key, used: count, perMinute })));
	}

	async countAttempts(attempts: readonly LimitedAttempt[]): Promise<number> {
		const items = attempts.map(({ key, limit, windowMs }) => ({ key, limit, window_ms: windowMs }));
		const row = await this.#attempt(() =>
			this.#sql.get<{ wait: number }>('SELECT count_attempts(@attempts) AS wait', { attempts: JSON.stringify(items) }),
		);
		return row?.wait ?? 0;
	}

	async refundAttempts(keys: readonly string[]): Promise<void> {
		await this.#attempt(() => this.#sql.get('SELECT refund_attempts(@keys)', { keys: JSON.stringify(keys) }));
	}

	#remember(node: string, number: number): void {
		this.#seen.delete(node);
		this.#seen.set(node, number);
		const [oldest] = this.#seen.keys();
		if (this.#seen.size > MAX_NODES && oldest !== undefined) this.#seen.delete(oldest);
	}

	async #attempt<T>(perform: () => Promise<T>): Promise<T> {
		try {
			return await this.#attempts.run(perform);
		} catch (cause) {
			if (cause instanceof AppError) throw cause;
			throw new AppError('unavailable', 'The database does not answer.', { retry_after: 1, cause });
		}
	}
}
