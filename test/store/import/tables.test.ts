import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import Database from 'better-sqlite3';
import {
	DERIVED_SOURCE_TABLES,
	IMPORTED_TABLES,
	OWN_TARGET_TABLES,
} from '../../../src/store/import/imported-tables.ts';
import { skipWithoutPostgres } from '../../support/postgres.ts';
import { openDatabase } from '../postgres/open-database.ts';
import { fillDataFolder } from './full-database.ts';

suite('the tables of an import', { skip: skipWithoutPostgres }, () => {
	test('each table of the embedded database is copied with all of its columns, or named with the reason', async (t) => {
		const dataDir = await mkdtemp(join(tmpdir(), 'parley-import-'));
		t.after(() => rm(dataDir, { recursive: true, force: true }));
		await fillDataFolder(dataDir, 3);
		await using postgres = await openDatabase();
		const sql = await postgres.connect();
		const db = new Database(join(dataDir, 'parley.db'), { readonly: true });
		t.after(() => db.close());

		const copied = new Set(IMPORTED_TABLES.map(({ name }) => name));
		const names = db
			.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
			.pluck()
			.all() as string[];
		const reasons = Object.keys(DERIVED_SOURCE_TABLES);
		const isNamed = (name: string) =>
			reasons.some((known) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known));
		assert.deepEqual(
			names.filter((name) => !copied.has(name) && !isNamed(name)),
			[],
			'tables of the embedded database that no import copies',
		);
		assert.deepEqual(
			reasons.filter((known) => !names.some((name) => name.startsWith(known.replace('*', '')))),
			[],
			'reasons for tables that do not exist',
		);

		const columns = await sql.all<{ table: string; names: string[] }>(
			`SELECT table_name::text AS table, array_agg(column_name::text) AS names FROM information_schema.columns
			 WHERE table_schema = 'parley' GROUP BY 1 ORDER BY 1`,
		);
		assert.deepEqual(
			columns.map(({ table }) => table).filter((table) => !copied.has(table) && !(table in OWN_TARGET_TABLES)),
			[],
			'tables of PostgreSQL that no import fills',
		);
		for (const { name, columns: others = {}, computed = [], isOfBases } of IMPORTED_TABLES) {
			if (isOfBases || name === 'log_end') continue;
			const target = columns.find(({ table }) => table === name)?.names ?? [];
			const source = (db.pragma(`table_info(${name})`) as { name: string }[]).map((column) => column.name);
			const given = new Set([...source, ...Object.keys(others), ...computed]);
			assert.deepEqual([...given].sort(), [...target].sort(), name);
		}
	});
});
