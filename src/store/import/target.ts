import pg from 'pg';
import { AppError } from '../../base/index.ts';
import { connectionOptions, TABLE_SCHEMA } from '../postgres/connection.ts';
import { migrate } from '../postgres/migrate.ts';
import { type Sql, sqlOf } from '../postgres/sql.ts';
import { requireNoServer } from '../postgres/tool-access.ts';
import { IMPORTED_TABLES, type ImportedTable } from './imported-tables.ts';
import { type Row, storableValue, type Value } from './row.ts';

/** A number that nothing else in the database locks. */
const IMPORT_LOCK = 7_257_542;
/** Limits of one statement, and of the source between two statements (ms). */
const STATEMENT_MS = 600_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** How long the connection of an import that was killed may hold the lock (ms). */
const LOCK_MS = 15_000;

/** A column of a table, with the type of its values. */
interface Column {
	name: string;
	type: string;
}

/** How far a part of the import has come. */
export interface Progress {
	/** The key of the last row that was copied; null before the first. */
	position: Value[] | null;
	copied: number;
	isComplete: boolean;
}

/** The database of PostgreSQL that gets the rows, on one connection. */
export class ImportTarget implements AsyncDisposable {
	readonly sql: Sql;
	readonly #client: pg.Client;
	readonly #columns = new Map<string, Column[]>();

	private constructor(client: pg.Client) {
		this.#client = client;
		this.sql = sqlOf(client);
	}

	/**
	 * Connects, and brings the schema of the database up to date.
	 * @throws AppError `unavailable` for a database with data of its own or with servers, and while another import runs
	 */
	static async open(url: string): Promise<ImportTarget> {
		const client = new pg.Client({ ...connectionOptions(url), query_timeout: STATEMENT_MS + 5_000 });
		client.on('error', () => {});
		await client.connect();
		const target = new ImportTarget(client);
		try {
			await client.query(`SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`);
			await target.#lock();
			// Before the schema is changed: the database may be that of other servers.
			const { rows } = await client.query(`SELECT to_regclass('${TABLE_SCHEMA}.imports') AS imports`);
			if (rows[0]?.imports !== null) await target.#requireFree();
			await migrate(url);
			await client.query(`SET statement_timeout = ${STATEMENT_MS}`);
			return target;
		} catch (error) {
			await client.end();
			throw error;
		}
	}

	/**
	 * Begins the import, or goes on with one of the same source.
	 * @returns when an earlier run has completed it (ms since the epoch); null: it is to be done
	 * @throws AppError `unavailable` when the database has data, or a part of another source
	 */
	async begin(source: string, now: number): Promise<number | null> {
		return this.transaction(async () => {
			// A server that starts meanwhile waits, and then finds the import.
			await this.#client.query('LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE');
			await requireNoServer(this.#client);
			const state = await this.sql.get<{ source: string; completed_at: number | null }>(
				'SELECT source, completed_at FROM imports',
			);
			if (state === undefined) {
				await this.#requireEmpty();
				await this.sql.run('INSERT INTO imports (id, source, started_at) VALUES (1, @source, @now)', { source, now });
				return null;
			}
			if (state.source === source) return state.completed_at;
			if (state.completed_at !== null) throw ownDataError();
			throw new AppError(
				'unavailable',
				'The PostgreSQL database has a part of another embedded database, or a server has used this one since the copy began. Empty the PostgreSQL database (DROP SCHEMA parley CASCADE), then run the command again.',
			);
		});
	}

	/** From now on servers may start. */
	async complete(now: number): Promise<void> {
		await this.sql.run('UPDATE imports SET completed_at = @now', { now });
	}

	async progressOf(part: string): Promise<Progress> {
		const row = await this.sql.get<{ position: string; copied: number; is_complete: boolean }>(
			'SELECT position, copied, is_complete FROM import_progress WHERE part = @part',
			{ part },
		);
		if (row === undefined) return { position: null, copied: 0, isComplete: false };
		return { position: JSON.parse(row.position), copied: row.copied, isComplete: row.is_complete };
	}

	/** Belongs into the transaction that copies the rows. */
	async saveProgress(part: string, { position, copied, isComplete }: Progress): Promise<void> {
		await this.sql.run(
			`INSERT INTO import_progress (part, position, copied, is_complete) VALUES (@part, @position, @copied, @complete)
			 ON CONFLICT (part) DO UPDATE SET position = excluded.position, copied = excluded.copied,
				is_complete = excluded.is_complete`,
			{ part, position: JSON.stringify(position), copied, complete: isComplete },
		);
	}

	async transaction<T>(task: () => Promise<T>): Promise<T> {
		await this.#client.query('BEGIN');
		try {
			const result = await task();
			await this.#client.query('COMMIT');
			return result;
		} catch (error) {
			await this.#client.query('ROLLBACK').catch(() => {});
			throw error;
		}
	}

	/** The columns of a table, in its order. */
	async columnsOf(table: string): Promise<string[]> {
		return (await this.#typedColumnsOf(table)).map(({ name }) => name);
	}

	async insert(table: ImportedTable, rows: readonly Row[]): Promise<void> {
		if (rows.length === 0) return;
		const columns = await this.#typedColumnsOf(table.name);
		const names = columns.map(({ name }) => `"${name}"`);
		const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`);
		if (table.replacesRow) await this.#client.query(`DELETE FROM ${table.name}`);
		await this.#client.query(
			`INSERT INTO ${table.name} (${names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays})`,
			columns.map(({ name }) => rows.map((row) => storableValue(row[name] ?? null))),
		);
	}

	/** All rows of a query, in portions. */
	async *rows(query: string, portion: number): AsyncGenerator<Row> {
		await this.#client.query('BEGIN');
		try {
			await this.#client.query(`DECLARE imported NO SCROLL CURSOR FOR ${query}`);
			for (;;) {
				const { rows } = await this.#client.query<Row>(`FETCH ${portion} FROM imported`);
				yield* rows;
				if (rows.length < portion) return;
			}
		} finally {
			await this.#client.query('ROLLBACK').catch(() => {});
		}
	}

	/** New rows get numbers after those of the embedded database. */
	async setSequence(table: string, column: string, last: number): Promise<void> {
		await this.#client.query('SELECT setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, 1), $3::bigint > 0)', [
			`${TABLE_SCHEMA}.${table}`,
			column,
			last,
		]);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#client.end().catch(() => {});
	}

	async #lock(): Promise<void> {
		await this.#client.query(`SET lock_timeout = ${LOCK_MS}`);
		try {
			await this.#client.query('SELECT pg_advisory_lock($1)', [IMPORT_LOCK]);
		} catch (cause) {
			if (!(cause instanceof pg.DatabaseError) || cause.code !== '55P03') throw cause;
			const sentence = 'Another "parley migrate" copies into this PostgreSQL database. Wait until it has ended.';
			throw new AppError('unavailable', sentence, { cause });
		}
	}

	async #requireFree(): Promise<void> {
		await requireNoServer(this.#client);
		if ((await this.sql.get('SELECT 1 FROM imports')) === undefined) await this.#requireEmpty();
	}

	/** @throws AppError `unavailable` when a table has rows that no import has copied */
	async #requireEmpty(): Promise<void> {
		const tables = IMPORTED_TABLES.filter(({ replacesRow }) => !replacesRow);
		const exist = tables.map(({ name }) => `EXISTS (SELECT 1 FROM ${name})`);
		const { rows } = await this.#client.query(
			`SELECT ${exist.join(' OR ')} OR EXISTS (SELECT 1 FROM log_end WHERE seq > 0) OR EXISTS (SELECT 1 FROM blobs) AS used`,
		);
		if (rows[0]?.used) throw ownDataError();
	}

	async #typedColumnsOf(table: string): Promise<Column[]> {
		let columns = this.#columns.get(table);
		if (columns === undefined) {
			columns = await this.sql.all<Column>(
				`SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
				 WHERE table_schema = @schema AND table_name = @table ORDER BY ordinal_position`,
				{ schema: TABLE_SCHEMA, table },
			);
			this.#columns.set(table, columns);
		}
		return columns;
	}
}

function ownDataError(): AppError {
	return new AppError(
		'unavailable',
		'The PostgreSQL database has data of its own. An embedded database is copied into an empty one only.',
	);
}
