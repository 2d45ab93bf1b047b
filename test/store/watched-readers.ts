import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Database } from 'better-sqlite3';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { SqliteReaders } from '../../src/store/sqlite/readers.ts';
import { temporaryPlace } from './contract/life.ts';

/** Readers whose scanned rows are counted. */
export interface WatchedReaders {
	/** The writable connection, for test data. */
	db: Database;
	readers: SqliteReaders;
	/** The rows of the watched table that a query scans, in total and at most in one turn of the event loop; and its result. */
	visits<T>(ask: () => Promise<T>): Promise<{ rows: number; atOnce: number; answer: T }>;
}

/**
 * A new database that counts every row that a query scans in one table: a view of the same name hides the table and calls a
 * function for each row.
 */
export async function watchedReaders(
	t: TestContext,
	table: 'events' | 'deliveries',
	key: string,
): Promise<WatchedReaders> {
	const db = openWritable(join(await temporaryPlace(t), 'parley.db'));
	t.after(async () => void db.close());
	migrate(db);
	let rows = 0;
	db.function('visited', (_key: unknown) => {
		rows++;
		return 1;
	});
	db.exec(`CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table} WHERE visited(${key})`);
	return {
		db,
		readers: new SqliteReaders(db),
		async visits(ask) {
			rows = 0;
			let before = 0;
			let atOnce = 0;
			let turn: NodeJS.Immediate;
			const look = () => {
				atOnce = Math.max(atOnce, rows - before);
				before = rows;
				turn = setImmediate(look);
			};
			turn = setImmediate(look);
			const answer = await ask();
			clearImmediate(turn);
			return { rows, atOnce: Math.max(atOnce, rows - before), answer };
		},
	};
}
