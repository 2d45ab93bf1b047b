import pg, { type ClientConfig } from 'pg';
import { withDeadline } from '../../base/index.ts';
import { FUNCTION_SCHEMA } from './functions/index.ts';

/** The schema of the tables. */
export const TABLE_SCHEMA = 'parley';

/** A connection that answers nothing for so long is ended (ms). Migrations have no limit. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** How long a statement waits for a lock (ms). */
const LOCK_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection without traffic is checked after so long (ms), by both sides. */
const KEEP_ALIVE_MS = 2_000;
const IDLE_IN_TRANSACTION_MS = 3_000;

const INT8 = 20;

/** Whole numbers fit a double: times, counts and sums are below 2^53. */
const types = {
	getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
		oid === INT8 && format !== 'binary'
			? Number
			: pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/**
 * How connections are opened. The URL may name TLS options, as `sslmode=verify-full&sslrootcert=…`.
 * @param limits of PostgreSQL for a statement, and for its wait for a lock (ms)
 */
export function connectionOptions(
	url: string,
	{ statementMs, lockMs } = { statementMs: STATEMENT_TIMEOUT_MS, lockMs: LOCK_TIMEOUT_MS },
): ClientConfig {
	return {
		connectionString: url,
		application_name: 'parley',
		options: [
			`-c search_path=${FUNCTION_SCHEMA},${TABLE_SCHEMA}`,
			`-c statement_timeout=${statementMs}`,
			`-c lock_timeout=${lockMs}`,
			'-c timezone=UTC',
			// Queries are short: to compile one would take longer than to run it.
			'-c jit=off',
			// A node that is frozen or cut off in the middle of a transaction must not keep its locks.
			`-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
			`-c client_connection_check_interval=${KEEP_ALIVE_MS}`,
			`-c tcp_keepalives_idle=${KEEP_ALIVE_MS / 1_000}`,
			'-c tcp_keepalives_interval=1',
			'-c tcp_keepalives_count=3',
		].join(' '),
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
		query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
		keepAlive: true,
		keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
		types,
	};
}

/** A connection that was cut off does not confirm its end (ms). */
const END_MS = 2_000;

/** Ends a connection, or a pool of them. Resolves in any case, also where the database does not answer. */
export async function endOf(connection: { end(): Promise<void> }): Promise<void> {
	const ended = withDeadline(connection.end(), END_MS, () => new Error('The connection does not end.'));
	await ended.catch(() => {});
}
