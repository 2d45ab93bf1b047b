import { Client } from 'pg';
import { connectionOptions, endOf } from './connection.ts';

/** Named locks have this first number. */
const NAMED_LOCKS = 7_257_541;
/** How long another process may keep a lock (ms). */
const LOCK_WAIT_MS = 60_000;

/**
 * Runs something while no other process runs something under the same name. The lock ends with its connection.
 * @throws Error when another process keeps the lock for too long, or the database cannot be reached
 */
export async function exclusively<T>(url: string, name: string, run: () => Promise<T>): Promise<T> {
	const client = new Client({ ...connectionOptions(url), query_timeout: 0 });
	client.on('error', () => {});
	await client.connect();
	try {
		await client.query(`SET statement_timeout = 0; SET lock_timeout = ${LOCK_WAIT_MS}`);
		await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [NAMED_LOCKS, name]);
		return await run();
	} finally {
		await endOf(client);
	}
}
