import pg from 'pg';
import { AppError } from '../../base/index.ts';
import { connectionOptions, endOf } from './connection.ts';

/** The tables with rows of end users. */
const TABLES = [
	...[
		'conversations',
		'messages',
		'searchable_messages',
		'notes',
		'reply_rounds',
		'reply_calls',
		'events',
		'deliveries',
		'delivery_attempts',
	],
	...[
		'idempotency',
		'inbox_rows',
		'inbox_reads',
		'unanswered_questions',
		'spending',
		'spending_reservations',
		'budget_notices',
	],
	...['erasures', 'writers'],
];

/**
 * Frees the space of deleted rows, also in the indexes. PostgreSQL has no command that overwrites the bytes: it does so when it uses the
 * space again, and its log and its backups keep them for as long as its administrator has set.
 * @throws AppError `unavailable`
 */
export async function vacuum(url: string): Promise<void> {
	const client = new pg.Client({ ...connectionOptions(url), query_timeout: 0 });
	client.on('error', () => {});
	try {
		await client.connect();
		await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
		await client.query(`VACUUM (INDEX_CLEANUP ON) ${TABLES}`);
	} catch (error) {
		throw new AppError('unavailable', 'The space of what was erased could not be freed.', { cause: error });
	} finally {
		await endOf(client);
	}
}
