import pg from 'pg';
import { connectionOptions } from './connection.ts';
import { SCHEMA_VERSION } from './schema/migrations.ts';
import { sqlOf } from './sql.ts';
import { readSchemaState, requireCurrentSchema } from './tool-access.ts';

/** What an inspection of PostgreSQL found. */
export interface PostgresReport {
	/** The version of PostgreSQL, for example `15.8`. */
	server: string;
	/** The value of `synchronous_commit`: with `off`, acknowledged changes may be lost. */
	synchronousCommit: string;
	/** Null without tables of Parley. */
	schema: number | null;
	/** The version that this Parley needs. */
	currentSchema: number;
	/** The content; null where this Parley cannot use the schema. */
	content: PostgresContent | null;
}

export interface PostgresContent {
	/** Of the whole database. */
	bytes: number;
	servers: number;
	/** Jobs that are due and that no server works on. */
	dueJobs: number;
	files: number;
	fileBytes: number;
	/** Files that a document names and that are not there. */
	missingFiles: string[];
	/** Files that no document names. */
	orphans: number;
}

/** Missing files that are named. */
const MAX_NAMED = 20;

/**
 * Looks at the database, with or without running servers. Changes nothing.
 * @throws AppError `unavailable` during an import and for a schema that this Parley cannot use, errors of the connection
 */
export async function inspectPostgres(url: string): Promise<PostgresReport> {
	const client = new pg.Client(connectionOptions(url));
	client.on('error', () => {});
	await client.connect();
	try {
		const sql = sqlOf(client);
		const server = await sql.get<{ server: string; commits: string }>(
			"SELECT current_setting('server_version') AS server, current_setting('synchronous_commit') AS commits",
		);
		const { version } = await readSchemaState(sql);
		const report = {
			server: server?.server ?? '',
			synchronousCommit: server?.commits ?? '',
			schema: version,
			currentSchema: SCHEMA_VERSION,
		};
		if (version === null) return { ...report, content: null };
		await requireCurrentSchema(sql);
		return { ...report, content: (await sql.get<PostgresContent>(SELECT_CONTENT)) ?? null };
	} finally {
		await client.end();
	}
}

const SELECT_CONTENT = `
	WITH named AS (SELECT DISTINCT blob FROM documents WHERE blob IS NOT NULL)
	SELECT pg_database_size(current_database()) AS bytes,
		(SELECT count(*) FROM nodes WHERE expires_at > clock_timestamp()) AS servers,
		(SELECT count(*) FROM jobs WHERE due_at <= now_ms() AND (lease_until <= now_ms() OR NOT is_alive(lease_epoch))) AS "dueJobs",
		(SELECT count(*) FROM blobs) AS files,
		(SELECT coalesce(sum(size), 0)::bigint FROM blobs) AS "fileBytes",
		ARRAY(SELECT blob::text FROM named WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE hash = blob) ORDER BY 1 LIMIT ${MAX_NAMED})
			AS "missingFiles",
		(SELECT count(*) FROM blobs WHERE NOT EXISTS (SELECT 1 FROM named WHERE blob = hash)) AS orphans`;
