import pg from 'pg';
import { connectionOptions } from '../../../src/store/postgres/connection.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import { type Sql, sqlOf } from '../../../src/store/postgres/sql.ts';
import { startPostgres } from '../../support/postgres.ts';

/** Connections to a database with the tables of the store, without a store. */
export interface OpenDatabase extends AsyncDisposable {
	connect(): Promise<Sql>;
}

export async function openDatabase(): Promise<OpenDatabase> {
	const server = await startPostgres();
	const url = await server.database('parley');
	await migrate(url);
	const clients: pg.Client[] = [];
	return {
		async connect() {
			const client = new pg.Client(connectionOptions(url));
			clients.push(client);
			await client.connect();
			return sqlOf(client);
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(clients.map((client) => client.end()));
			await server[Symbol.asyncDispose]();
		},
	};
}
