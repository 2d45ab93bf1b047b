import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';

/** Rows in each table: the first has a value in every column, the second NULL wherever that is permitted. */
export const ROWS = 2;
/** Columns with JSON. */
const JSON_OBJECTS = new Set(
	'rag_settings search_settings appearance features rate_limit metadata end_user author usage error config data jwt call memory grounding taken_over_by budget visitor_budget totp counts backups details'.split(
		' ',
	),
);
const JSON_ARRAYS = new Set(
	'scopes knowledge_base_ids tool_ids allowed_domains citations tool_calls events former_secrets redaction'.split(' '),
);

/** A column as SQLite describes it. */
export interface Column {
	name: string;
	type: string;
	notnull: number;
}

/**
 * Makes an empty database one of an earlier version: it went through the first steps of the schema, and every ordinary table has
 * rows. Equal for equal steps, so that its checksum can be kept in place of its file.
 */
export function fillAsFrozen(db: Database.Database, steps: number): void {
	db.transaction(() => {
		for (const step of MIGRATIONS.slice(0, steps)) db.exec(step);
		db.pragma(`user_version = ${steps}`);
		insertRows(db);
	})();
}

function insertRows(db: Database.Database): void {
	for (const table of ordinaryTables(db)) {
		const columns = db.pragma(`table_info(${table})`) as Column[];
		const names = columns.map(({ name }) => name);
		const insert = db.prepare(
			`INSERT OR IGNORE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
		);
		for (let row = 1; row <= ROWS; row++) insert.run(columns.map((column) => cellOf(table, column, row)));
	}
}

/** The SHA-256 of the schema and of all rows of ordinary tables. */
export function checksumOf(db: Database.Database): string {
	const hash = createHash('sha256');
	const schema = db.prepare('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name').pluck().all();
	hash.update(JSON.stringify(schema));
	for (const table of ordinaryTables(db)) hash.update(`\n${table} ${JSON.stringify(rowsOf(db, table))}`);
	return hash.digest('hex');
}

/** The tables that are neither virtual nor a part of a virtual one, by name. */
export function ordinaryTables(db: Database.Database): string[] {
	const all = db.pragma('table_list') as { schema: string; name: string; type: string }[];
	return all
		.filter(({ schema, name, type }) => schema === 'main' && type === 'table' && !name.startsWith('sqlite_'))
		.map(({ name }) => name)
		.sort();
}

/** All rows of a table. */
export function rowsOf(db: Database.Database, table: string): Record<string, unknown>[] {
	const rows = db.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
	return rows
		.map((row) =>
			Object.fromEntries(
				Object.entries(row).map(([name, value]) => [name, value instanceof Buffer ? value.toString('hex') : value]),
			),
		)
		.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The value of a column in a frozen row. */
export function cellOf(table: string, { name, type, notnull }: Column, row: number): unknown {
	if (notnull === 0 && row > 1 && name !== 'id') return null;
	if (type === 'INTEGER') return 1_000 * row + name.length;
	if (type === 'REAL') return row + 0.5;
	if (type === 'BLOB') return Buffer.from([row, name.length]);
	if (JSON_OBJECTS.has(name)) return '{}';
	if (JSON_ARRAYS.has(name)) return '[]';
	if (name === 'require_totp') return 'false';
	// The id of another record names its table: conversation_id is the id of a conversation.
	const owner = name.endsWith('_id') ? `${name.slice(0, -3)}s` : table;
	return name === 'id' || name.endsWith('_id') ? `${owner}_${row}` : `${name} ${row}`;
}
