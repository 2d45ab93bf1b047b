import type { Database, Statement } from 'better-sqlite3';

const statements = new Map<string, Statement>();

/**
 * The prepared statement of a check. Apart from those of the server: the form of the rows is a state of a statement, which both would
 * change. There is one database for all simulations.
 */
export function checkStatement(db: Database, sql: string): Statement {
	let statement = statements.get(sql);
	if (statement === undefined) {
		statement = db.prepare(sql);
		statements.set(sql, statement);
	}
	return statement;
}
