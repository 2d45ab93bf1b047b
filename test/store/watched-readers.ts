import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Database } from 'better-sqlite3';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { SqliteReaders } from '../../src/store/sqlite/readers.ts';
import { temporaryPlace } from './contract/life.ts';

/** Readers whose queries are watched. */
export interface WatchedReaders {
	/** To fill it. */
	db: Database;
	readers: SqliteReaders;
	/** How many rows of the watched table a question looks at, in all and at most in one turn of the event loop; and its answer. */
	visits<T>(ask: () => Promise<T>): Promise<{ rows: number; atOnce: number; answer: T }>;
}

/**
 * A database of its own in which every row counts that a query looks at in one table: a view of the same name stands before
 * it, which the planner resolves into the query, with a function that is called for each row.
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
