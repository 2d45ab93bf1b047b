import type { Kind, Records } from '../records.ts';
import type { Codec, ColumnsOf } from './column-codec.ts';
import { CONVERSATION_COLUMNS } from './conversation-columns.ts';
import { KNOWLEDGE_COLUMNS } from './knowledge-columns.ts';
import { WORKSPACE_COLUMNS } from './workspace-columns.ts';

/** The columns of every kind of record; the table has the kind's name. */
const TABLES: ColumnsOf<Kind> = { ...WORKSPACE_COLUMNS, ...CONVERSATION_COLUMNS, ...KNOWLEDGE_COLUMNS };

type Row = Record<string, unknown>;

const jsonColumns = Object.fromEntries(
	Object.entries(TABLES).map(([kind, columns]) => [
		kind,
		Object.entries(columns).flatMap(([name, codec]) => (codec === 'json' ? [name] : [])),
	]),
) as Record<Kind, string[]>;

/** The names of a kind's columns, in the order of its table. */
export function columnsOf(kind: Kind): string[] {
	return Object.keys(TABLES[kind]);
}

const insertions = new Map<Kind, string>();

/** The statement that inserts a record: its parameters are the columns in their order. */
export function insertionOf(kind: Kind): string {
	let sql = insertions.get(kind);
	if (sql === undefined) {
		const columns = columnsOf(kind);
		sql = `INSERT INTO ${kind} (${columns}) VALUES (${columns.map(() => '?')})`;
		insertions.set(kind, sql);
	}
	return sql;
}

/** Turns a row of the database into a record, in place. */
export function decodeRow<K extends Kind>(kind: K, row: unknown): Records[K] {
	const record = row as Row;
	for (const name of jsonColumns[kind]) {
		const text = record[name];
		record[name] = text === null ? null : JSON.parse(text as string);
	}
	return record as unknown as Records[K];
}

/** The name of a field's column. Throws for an unknown field, because SQL is built from field names. */
export function columnOf(kind: Kind, field: string): string {
	codecOf(kind, field);
	return field;
}

function codecOf(kind: Kind, field: string): Codec {
	const codec = (TABLES[kind] as Record<string, Codec>)[field];
	if (codec === undefined) throw new Error(`${kind} has no field ${field}`);
	return codec;
}

/** A value as its column stores it. Throws for an unknown field, because SQL is built from field names. */
export function encodeColumn(kind: Kind, field: string, value: unknown): unknown {
	const codec = codecOf(kind, field);
	if (value === null || value === undefined) return null;
	return codec === 'json' ? JSON.stringify(value) : value;
}

/** All kinds of records. */
export function kinds(): Kind[] {
	return Object.keys(TABLES) as Kind[];
}
