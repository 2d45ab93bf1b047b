import { createHash } from 'node:crypto';
import type pg from 'pg';
import { TABLE_SCHEMA } from '../../../src/store/postgres/connection.ts';
import { MIGRATIONS } from '../../../src/store/postgres/schema/migrations.ts';
import { cellOf, ROWS } from '../frozen-databases.ts';

/** The types of SQLite with the same values; other columns have texts. */
const TYPES: Record<string, string> = { bigint: 'INTEGER', 'double precision': 'REAL', bytea: 'BLOB' };

/** Columns with JSON that the frozen databases of SQLite do not know as such. */
const JSON_COLUMNS = new Set(['exclude', 'fields', 'hosts', 'include', 'problem']);

interface Column {
	name: string;
	type: string;
	notnull: number;
	is_identity: boolean;
}

/**
 * Makes an empty database one of an earlier version: it went through the first steps of the schema, and each table of records has rows.
 * Equal for equal steps, so that its checksum can be kept in place of its files.
 */
export async function fillAsFrozen(client: pg.Client, steps: number): Promise<void> {
	await client.query(`
		CREATE SCHEMA ${TABLE_SCHEMA};
		CREATE TABLE ${TABLE_SCHEMA}.schema_version (id int PRIMARY KEY CHECK (id = 1), version int NOT NULL);
		INSERT INTO ${TABLE_SCHEMA}.schema_version VALUES (1, ${steps});
		SET search_path = ${TABLE_SCHEMA}`);
	for (const step of MIGRATIONS.slice(0, steps)) await client.query(`BEGIN; ${step}; COMMIT`);
	for (const table of await recordTables(client)) {
		const columns = (await columnsOf(client, table)).filter(({ is_identity }) => !is_identity);
		const names = columns.map(({ name }) => name).join(', ');
		const places = columns.map((_, at) => `$${at + 1}`).join(', ');
		for (let row = 1; row <= ROWS; row++) {
			const values = columns.map((column) => frozenValue(table, column, row));
			await client.query(`INSERT INTO ${table} (${names}) VALUES (${places})`, values);
		}
	}
}

function frozenValue(table: string, { name, type, notnull }: Column, row: number): unknown {
	const value = cellOf(table, { name, type: TYPES[type] ?? '', notnull }, row);
	return JSON_COLUMNS.has(name) && value !== null ? '[]' : value;
}

/** The tables whose rows have an id and a version, by name. */
export async function recordTables(client: pg.Client): Promise<string[]> {
	const { rows } = await client.query<{ name: string }>(
		`SELECT table_name AS name FROM information_schema.columns
		 WHERE table_schema = '${TABLE_SCHEMA}' AND column_name = 'version' AND data_type = 'bigint'
		 ORDER BY table_name COLLATE "C"`,
	);
	return rows.map(({ name }) => name);
}

/** The rows of a table of records, by id. */
export async function rowsOf(client: pg.Client, table: string): Promise<Record<string, unknown>[]> {
	return (await client.query(`SELECT * FROM ${table} ORDER BY id`)).rows;
}

/** Columns, indexes, functions and triggers of the tables. */
export async function schemaOf(client: pg.Client): Promise<unknown[]> {
	const parts = [
		`SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
		 WHERE table_schema = '${TABLE_SCHEMA}' ORDER BY table_name COLLATE "C", column_name COLLATE "C"`,
		`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = '${TABLE_SCHEMA}' ORDER BY indexname`,
		`SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
		 WHERE connamespace = '${TABLE_SCHEMA}'::regnamespace ORDER BY conname`,
		`SELECT proname, prosrc FROM pg_proc WHERE pronamespace = '${TABLE_SCHEMA}'::regnamespace ORDER BY proname`,
		`SELECT tgname, pg_get_triggerdef(t.oid) AS definition FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
		 WHERE NOT tgisinternal AND relnamespace = '${TABLE_SCHEMA}'::regnamespace ORDER BY tgname`,
	];
	const results = [];
	for (const part of parts) results.push((await client.query(part)).rows);
	return results;
}

/** The SHA-256 of the columns and of all rows of the tables of records. */
export async function checksumOf(client: pg.Client): Promise<string> {
	const hash = createHash('sha256');
	for (const table of await recordTables(client)) {
		const columns = (await columnsOf(client, table)).map(({ name, type, notnull }) => [name, type, notnull]);
		hash.update(`${table} ${JSON.stringify([columns, await rowsOf(client, table)])}\n`);
	}
	return hash.digest('hex');
}

async function columnsOf(client: pg.Client, table: string): Promise<Column[]> {
	const { rows } = await client.query<Column>(
		`SELECT column_name AS name, data_type AS type, (is_nullable = 'NO')::int AS notnull, is_identity = 'YES' AS is_identity
		 FROM information_schema.columns WHERE table_schema = '${TABLE_SCHEMA}' AND table_name = $1 ORDER BY ordinal_position`,
		[table],
	);
	return rows;
}
