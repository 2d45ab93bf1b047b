import pg from 'pg';
import { connectionOptions } from '../../../src/store/postgres/connection.ts';
import { type Sql, sqlOf } from '../../../src/store/postgres/sql.ts';

/** Runs statements in a transaction of a connection of their own, as another node would. */
export async function inTransaction<T>(url: string, perform: (sql: Sql) => Promise<T>): Promise<T> {
	const client = new pg.Client(connectionOptions(url));
	await client.connect();
	try {
		const sql = sqlOf(client);
		await sql.run('BEGIN');
		const result = await perform(sql);
		await sql.run('COMMIT');
		return result;
	} finally {
		await client.end();
	}
}
