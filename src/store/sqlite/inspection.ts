import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
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
			if (report.schema === MIGRATIONS.length) report.problems.push(...missingTables(db));
		} finally {
			db.close();
		}
	} catch (error) {
		// So damaged that it cannot be looked into.
		report.problems.push(messageOf(error));
	}
	return report;
}

/** What the schema has and the database lacks, as sentences: a very early build made databases without a table of the search index. */
function missingTables(db: Database.Database): string[] {
	const empty = new Database(':memory:');
	try {
		for (const step of MIGRATIONS) empty.exec(step);
		const tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
		const present = new Set(db.prepare(tables).pluck().all());
		return (empty.prepare(tables).pluck().all() as string[])
			.filter((name) => !present.has(name))
			.map((name) =>
				name === 'generation_languages'
					? 'the search index lacks the table generation_languages (start the server once, or reindex a knowledge base: both make it)'
					: `the table ${name} is missing (restore a backup)`,
			);
	} finally {
		empty.close();
	}
}
