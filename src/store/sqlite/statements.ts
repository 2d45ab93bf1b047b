import type { Database, Statement } from 'better-sqlite3';
import { LruCache } from '../../base/index.ts';

/**
 * Most texts differ only by kind, by the filters of a list and by the fields of a patch. Those of the search index name
 * generations and bases, which come and go, so the cache is bounded.
 */
const MAX_STATEMENTS = 800;

/** Gives the prepared statement of an SQL text. */
export type Prepare = (sql: string) => Statement;

const caches = new WeakMap<Database, Prepare>();

/** The prepared statements of a connection: each text is prepared once. */
export function statementsOf(db: Database): Prepare {
	let prepare = caches.get(db);
	if (prepare === undefined) {
		prepare = cachedPrepare(db);
		caches.set(db, prepare);
	}
	return prepare;
}

/** One statement of a connection, prepared once. */
export function statement(db: Database, sql: string): Statement {
	return statementsOf(db)(sql);
}

function cachedPrepare(db: Database): Prepare {
	const statements = new LruCache<string, Statement>(MAX_STATEMENTS);
	return (sql) => {
		let prepared = statements.get(sql);
		if (prepared === undefined) {
			prepared = db.prepare(sql);
			statements.set(sql, prepared);
		}
		return prepared;
	};
}
