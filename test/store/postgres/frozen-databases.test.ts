import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { type Kind, openPostgresStore } from '../../../src/store/index.ts';
import { connectionOptions } from '../../../src/store/postgres/connection.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import { MIGRATIONS } from '../../../src/store/postgres/schema/migrations.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { checksumOf, fillAsFrozen, recordTables, rowsOf, schemaOf } from './frozen-database.ts';

/** The SHA-256 of each step of the schema, in order. A line never changes; a new step gets a new line. */
const STEPS = ['8a8762fdd4330dba158a1a7e2dabd8cbecaf25666ba2416655d17f229d077182'];

/** Checksums of the databases of each schema version, from the first on. A line never changes; a new version gets a new line. */
const DATABASES = ['93bc5c5061f01b9731152ac86446b105513af95cf250e1b267cd58d9e72b3666'];

test('no step of the schema of PostgreSQL has changed since it was written', () => {
	const checksums = MIGRATIONS.map((sql) => createHash('sha256').update(sql).digest('hex'));
	const advice =
		'Databases that went through an edited step lack the change: undo it, and add a step at the end of MIGRATIONS. A new step needs its checksum at the end of STEPS.';
	assert.deepEqual(checksums, STEPS, `${advice} ${checksums}`);
});

suite('frozen databases of PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** Calls with a connection to a database. */
	async function withClient<T>(url: string, call: (client: pg.Client) => Promise<T>): Promise<T> {
		const client = new pg.Client(connectionOptions(url));
		await client.connect();
		try {
			return await call(client);
		} finally {
			await client.end();
		}
	}

	test('are those that were frozen, and each is upgraded with all its records to the newest schema', async () => {
		const fresh = await server.database('fresh');
		await migrate(fresh);
		const newest = await withClient(fresh, schemaOf);
		const checksums: string[] = [];
		for (let version = 1; version <= MIGRATIONS.length; version++) {
			const url = await server.database(`frozen_${version}`);
			const kept = await withClient(url, async (client) => {
				await fillAsFrozen(client, version);
				checksums.push(await checksumOf(client));
				const tables = await recordTables(client);
				const rows = new Map<string, Record<string, unknown>[]>();
				for (const table of tables) rows.set(table, await rowsOf(client, table));
				return rows;
			});
			assert.ok(kept.size > 20, `${kept.size} tables`);
			await using store = await openPostgresStore({ url });
			for (const [table, rows] of kept) {
				for (const row of rows) {
					const record = await store.get(table as Kind, row.id as string);
					assertKept(record ?? {}, row, `version ${version}, ${table}`);
				}
			}
			assert.deepEqual(await withClient(url, schemaOf), newest, `version ${version}`);
		}
		assert.deepEqual(checksums, DATABASES);
	});
});

/** A record has all values of its former row, and JSON as a value. It may have further fields. */
function assertKept(record: object, row: Record<string, unknown>, where: string): void {
	for (const [name, stored] of Object.entries(row)) {
		const value = (record as Record<string, unknown>)[name];
		const isParsed = typeof stored === 'string' && typeof value !== 'string';
		assert.deepEqual(value, isParsed ? JSON.parse(stored) : stored, `${where}, ${name}`);
	}
}
