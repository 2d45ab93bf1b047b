import pg from 'pg';
import { AppError, newId } from '../../base/index.ts';
import { connectionOptions, endOf, TABLE_SCHEMA } from './connection.ts';
import { FUNCTION_SCHEMA } from './functions/index.ts';
import { requireCompleteImport } from './import-state.ts';
import type { NodeIdentity } from './placement.ts';
import { SCHEMA_VERSION } from './schema/migrations.ts';
import type { Sql } from './sql.ts';

const NO_TABLES = 'There is nothing of Parley in the PostgreSQL database yet: start a node on it once.';
/** How long an exclusive tool may take for one step between two statements (ms). */
const EXCLUSIVE_IDLE_MS = 600_000;

/** What the database says of itself. */
export interface SchemaState {
	/** The version of the schema; null without tables of Parley. */
	version: number | null;
	/** Whether it has the functions of this program. */
	hasFunctions: boolean;
}

export async function readSchemaState(sql: Sql): Promise<SchemaState> {
	const found = await sql.get<{ exists: boolean; has_functions: boolean }>(
		`SELECT to_regclass('${TABLE_SCHEMA}.schema_version') IS NOT NULL AS exists,
			to_regnamespace('${FUNCTION_SCHEMA}') IS NOT NULL AS has_functions`,
	);
	if (!found?.exists) return { version: null, hasFunctions: false };
	const row = await sql.get<{ version: number }>(`SELECT version FROM ${TABLE_SCHEMA}.schema_version`);
	return { version: row?.version || null, hasFunctions: found.has_functions };
}

/**
 * A tool beside running nodes must not change their schema.
 * @throws AppError `not_found` for a database without tables, `unavailable` for those of another version, and during an import
 */
export async function requireCurrentSchema(sql: Sql): Promise<void> {
	const { version, hasFunctions } = await readSchemaState(sql);
	if (version === null) throw new AppError('not_found', NO_TABLES);
	if (version < SCHEMA_VERSION || version > SCHEMA_VERSION + 1 || !hasFunctions) {
		throw new AppError(
			'unavailable',
			`The nodes on this database run another version of Parley: it has schema version ${version}, and this command knows ${SCHEMA_VERSION}. Run the command with the version of the nodes.`,
		);
	}
	await requireCompleteImport(sql);
}

/** A writer that is no node of the cluster: it owns no shard, and no job. */
export function toolIdentity(): NodeIdentity {
	return { owner: `tool-${process.pid}-${newId('request')}`, epoch: 0 };
}

/**
 * Prevents the start of servers until it is disposed, or the connection is lost.
 * @throws AppError `unavailable` while a server runs on the database
 */
export async function excludeServers(url: string): Promise<AsyncDisposable> {
	const client = new pg.Client(connectionOptions(url));
	client.on('error', () => {});
	await client.connect();
	try {
		await client.query(`SET idle_in_transaction_session_timeout = ${EXCLUSIVE_IDLE_MS}; BEGIN`);
		// A server that starts waits for the lock, and then for its turn.
		await client.query('LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE');
		await requireNoServer(client);
	} catch (error) {
		await endOf(client);
		throw error;
	}
	return {
		async [Symbol.asyncDispose]() {
			await endOf(client);
		},
	};
}

/** @throws AppError `unavailable` while a server runs on the database */
export async function requireNoServer(client: pg.ClientBase): Promise<void> {
	const { rows } = await client.query<{ count: number }>(
		'SELECT count(*) AS count FROM nodes WHERE expires_at > clock_timestamp()',
	);
	const count = rows[0]?.count ?? 0;
	if (count === 0) return;
	const servers = count === 1 ? 'A node runs' : `${count} nodes run`;
	throw new AppError('unavailable', `${servers} on the PostgreSQL database. Stop all nodes first.`);
}
