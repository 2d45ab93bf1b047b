import { type Stats, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { messageOf } from '../../base/index.ts';
import { dataFolderError } from '../data-folder-error.ts';
import { databaseFile, openReadOnly, openWritable } from './connection.ts';
import { isLost, LOST } from './lost-database.ts';
import { MIGRATIONS } from './migrations.ts';
import { repairLanguages } from './search-index.ts';
import { findWalDamage } from './wal-inspection.ts';
import { walSentence } from './wal-repair.ts';

/** What an inspection found. */
export interface DatabaseReport {
	/** The version of the schema; null when it cannot be read. */
	schema: number | null;
	/** The version that this Parley needs. */
	currentSchema: number;
	/** Of the database and its log. */
	bytes: number;
	/** Damage, the most important first; empty for a sound database. SQLite describes at most twenty. */
	problems: DatabaseProblem[];
	/** Whether the search index lacks a table that `repairSearchIndex` makes. */
	isRepairable: boolean;
}

/** A part of a sentence that names the damage, and a sentence that says what to do when no server runs. */
export interface DatabaseProblem {
	problem: string;
	remedy: string;
}

const REPAIRABLE = 'generation_languages';
const LOST_REMEDY = 'Bring back parley.db and parley.db-wal, or restore a backup.';
const LOG_REMEDY = 'Restore a backup, or run "parley database repair".';

/**
 * Reads the whole database and checks that it is sound. Changes nothing and may run beside a server. The duration depends on
 * the size of the database.
 * @returns null when there is no database
 * @throws AppError `unavailable` when this user cannot read it
 */
export function inspectDatabase(dataDir: string): DatabaseReport | null {
	try {
		return inspect(databaseFile(dataDir), dataDir);
	} catch (error) {
		throw dataFolderError(error, dataDir) ?? error;
	}
}

/**
 * The uploaded files that documents name, by their hashes, each once. May run beside a server.
 * @throws AppError `unavailable` when this user cannot read the database
 */
export function namedBlobs(dataDir: string): string[] {
	try {
		const db = openReadOnly(databaseFile(dataDir));
		try {
			return db.prepare<[], string>('SELECT DISTINCT blob FROM documents WHERE blob IS NOT NULL').pluck().all();
		} finally {
			db.close();
		}
	} catch (error) {
		throw dataFolderError(error, dataDir) ?? error;
	}
}

/**
 * Makes the table of the search index that databases of a very early build lack, as each start does. May run beside a server.
 * @throws AppError `unavailable` when this user cannot write there
 */
export function repairSearchIndex(dataDir: string): void {
	try {
		const db = openWritable(databaseFile(dataDir));
		try {
			db.transaction(repairLanguages).immediate(db);
		} finally {
			db.close();
		}
	} catch (error) {
		throw dataFolderError(error, dataDir) ?? error;
	}
}

function inspect(file: string, dataDir: string): DatabaseReport | null {
	const found = statIfThere(file);
	if (found === null) return null;
	const report: DatabaseReport = {
		schema: null,
		currentSchema: MIGRATIONS.length,
		bytes: found.size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0),
		problems: [],
		isRepairable: false,
	};
	try {
		const damage = findWalDamage(file);
		const db = openReadOnly(file);
		try {
			report.schema = db.pragma('user_version', { simple: true }) as number;
			const found = db.prepare('PRAGMA integrity_check(20)').pluck().all() as string[];
			report.problems = found.filter((line) => line !== 'ok').map(damageOf);
			if (isLost(db, dataDir)) report.problems.unshift({ problem: LOST, remedy: LOST_REMEDY });
			// First, because a server refuses to start on it.
			if (damage !== null) {
				const problem = walSentence(damage);
				report.problems.unshift(damage.isCopied ? damageOf(problem) : { problem, remedy: LOG_REMEDY });
			}
			if (report.schema === MIGRATIONS.length) {
				const missing = missingTables(db);
				report.isRepairable = missing.includes(REPAIRABLE);
				report.problems.push(
					...missing.filter((name) => name !== REPAIRABLE).map((name) => damageOf(`the table ${name} is missing`)),
				);
			}
		} finally {
			db.close();
		}
	} catch (error) {
		if (dataFolderError(error, dataDir) !== null) throw error;
		// The database is too damaged to be inspected.
		report.problems.push(damageOf(messageOf(error)));
	}
	return report;
}

/** Node 22 also takes a path through a file for one without an entry, if `statSync` is not to throw. */
function statIfThere(file: string): Stats | null {
	try {
		return statSync(file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
}

/** The tables that the schema has and the database lacks. */
function missingTables(db: Database.Database): string[] {
	const empty = new Database(':memory:');
	try {
		for (const step of MIGRATIONS) empty.exec(step);
		const tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
		const present = new Set(db.prepare(tables).pluck().all());
		return (empty.prepare(tables).pluck().all() as string[]).filter((name) => !present.has(name));
	} finally {
		empty.close();
	}
}

const damageOf = (problem: string): DatabaseProblem => ({ problem, remedy: 'Restore a backup.' });
