import { existsSync, statSync } from 'node:fs';
import { messageOf } from '../../base/index.ts';
import { databaseFile, openReadOnly } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';

/** What an inspection found. */
export interface DatabaseReport {
	/** The version of the schema; null where it cannot be read. */
	schema: number | null;
	/** The version that this Parley works with. */
	currentSchema: number;
	bytes: number;
	/** What is damaged, in SQLite's words, the first twenty; none where all is well. */
	problems: string[];
}

/**
 * Reads the whole database and checks that it is sound. Changes nothing, and may run beside a server; takes as long as the
 * disk takes to read all of it.
 * @returns null where there is no database
 */
export function inspectDatabase(dataDir: string): DatabaseReport | null {
	const file = databaseFile(dataDir);
	if (!existsSync(file)) return null;
	const report: DatabaseReport = {
		schema: null,
		currentSchema: MIGRATIONS.length,
		bytes: statSync(file).size,
		problems: [],
	};
	try {
		const db = openReadOnly(file);
		try {
			report.schema = db.pragma('user_version', { simple: true }) as number;
			const found = db.prepare('PRAGMA integrity_check(20)').pluck().all() as string[];
			report.problems = found.filter((line) => line !== 'ok');
		} finally {
			db.close();
		}
	} catch (error) {
		// So damaged that it cannot be looked into.
		report.problems.push(messageOf(error));
	}
	return report;
}
