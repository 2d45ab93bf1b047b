import { Client, type DatabaseError } from 'pg';
import { AppError } from '../../base/index.ts';
import { connectionOptions, endOf, TABLE_SCHEMA } from './connection.ts';
import { FUNCTION_SCHEMA, FUNCTION_SCHEMAS, FUNCTIONS } from './functions/index.ts';
import { MIGRATIONS, SCHEMA_VERSION } from './schema/migrations.ts';
import { requireUsableSchema } from './schema-version.ts';

/** Any number that nothing else in the database locks. */
const MIGRATION_LOCK = 7_257_539;

/**
 * Brings the database to the current schema. One node at a time does this: the others wait.
 * @throws AppError `unavailable` when the database is older than PostgreSQL 15 or acknowledges commits early, its schema is newer than this program can use, or another node changes it for too long
 */
export async function migrate(url: string): Promise<void> {
	const client = new Client({ ...connectionOptions(url), query_timeout: 0 });
	client.on('error', () => {});
	await client.connect();
	try {
		await requireServer(client);
		await waitForOthers(client);
		await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
		await client.query(
			`CREATE SCHEMA IF NOT EXISTS ${TABLE_SCHEMA};
			 CREATE TABLE IF NOT EXISTS ${TABLE_SCHEMA}.schema_version (id int PRIMARY KEY CHECK (id = 1), version int NOT NULL);
			 INSERT INTO ${TABLE_SCHEMA}.schema_version VALUES (1, 0) ON CONFLICT DO NOTHING`,
		);
		await runSteps(client);
		await createFunctions(client);
	} finally {
		await endOf(client);
	}
}

/** A node that is frozen while it changes the schema keeps the lock (ms). Steps of large tables may take long, too. */
const LOCK_WAIT_MS = 10 * 60_000;
/** SQLSTATE of a lock that was waited for too long. */
const LOCK_NOT_AVAILABLE = '55P03';

async function waitForOthers(client: Client): Promise<void> {
	await client.query(`SET statement_timeout = 0; SET lock_timeout = ${LOCK_WAIT_MS}`);
	try {
		await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
	} catch (error) {
		if ((error as DatabaseError).code !== LOCK_NOT_AVAILABLE) throw error;
		throw new AppError(
			'unavailable',
			'Other nodes have been changing the schema of the database for ten minutes. End a node that no longer works.',
			{ cause: error },
		);
	}
}

const OLDEST_POSTGRES = 15;

async function requireServer(client: Client): Promise<void> {
	const { rows } = await client.query<{ version: number; commits: string }>(
		"SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('synchronous_commit') AS commits",
	);
	const { version = 0, commits } = rows[0] ?? {};
	if (version < OLDEST_POSTGRES) {
		throw new AppError(
			'unavailable',
			`The database is PostgreSQL ${version}. Parley needs PostgreSQL ${OLDEST_POSTGRES} or newer.`,
		);
	}
	if (commits === 'off') {
		throw new AppError(
			'unavailable',
			'The database acknowledges commits before they are on disk (synchronous_commit is off). Switch it on for the user or the database of Parley.',
		);
	}
}

/** Each step is one transaction. */
async function runSteps(client: Client): Promise<void> {
	const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${TABLE_SCHEMA}.schema_version`);
	const version = rows[0]?.version ?? 0;
	requireUsableSchema(version);
	for (const [index, sql] of MIGRATIONS.entries()) {
		if (index < version) continue;
		await client.query(`BEGIN; SET LOCAL search_path = ${TABLE_SCHEMA}; ${sql};
			UPDATE schema_version SET version = ${index + 1}; COMMIT`);
	}
}

/** Creates the functions where they are missing, and removes those of programs that can no longer use the tables. */
async function createFunctions(client: Client): Promise<void> {
	const { rows } = await client.query<{ name: string }>(
		"SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'parley%'",
	);
	const names = rows.map(({ name }) => name);
	if (!names.includes(FUNCTION_SCHEMA)) {
		await client.query(`BEGIN; CREATE SCHEMA ${FUNCTION_SCHEMA};
			SET LOCAL check_function_bodies = off; ${FUNCTIONS}; COMMIT`);
	}
	for (const name of names) {
		const version = Number(FUNCTION_SCHEMAS.exec(name)?.[1] ?? SCHEMA_VERSION);
		if (version < SCHEMA_VERSION - 1) await client.query(`DROP SCHEMA ${name} CASCADE`);
	}
}
