import { join } from 'node:path';
import { openReadOnly } from '../../src/store/sqlite/index.ts';

/** The contents of a data folder's search index, with any leftovers of a generation. */
export interface IndexTables {
	generations: string[];
	/** The generations that have full-text tables. */
	fullText: string[];
	/** The bases that have vector tables. */
	vectors: string[];
	bases: string[];
	/** Documents and chunks without an existing generation. */
	orphans: number;
	/** Chunks, and vectors of the serving bases. */
	chunks: number;
	embedded: number;
}

/** The number of documents in generations under construction. */
export function builtDocuments(dataDir: string): number {
	return countIn(
		dataDir,
		'SELECT count(*) FROM indexed_documents WHERE generation IN (SELECT rebuilding FROM knowledge_bases)',
	);
}

/** The number of jobs of a kind that wait or run. */
export function jobsOf(dataDir: string, kind: string): number {
	return countIn(dataDir, 'SELECT count(*) FROM jobs WHERE kind = ?', kind);
}

function countIn(dataDir: string, sql: string, ...values: string[]): number {
	const db = openReadOnly(join(dataDir, 'parley.db'));
	try {
		return db
			.prepare(sql)
			.pluck()
			.get(...values) as number;
	} finally {
		db.close();
	}
}

/** When the jobs of a kind are due (ms since the epoch), the first one first. */
export function dueOf(dataDir: string, kind: string): number[] {
	const db = openReadOnly(join(dataDir, 'parley.db'));
	try {
		return db.prepare('SELECT due_at FROM jobs WHERE kind = ? ORDER BY due_at').pluck().all(kind) as number[];
	} finally {
		db.close();
	}
}

/** Reads the tables of the search index while the server runs. */
export function indexTables(dataDir: string): IndexTables {
	const db = openReadOnly(join(dataDir, 'parley.db'));
	try {
		const list = (sql: string) => db.prepare(sql).pluck().all() as string[];
		const count = (sql: string) => db.prepare(sql).pluck().get() as number;
		return db.transaction(() => {
			const names = list("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name");
			const after = (prefix: string) =>
				names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
			return {
				generations: list('SELECT id FROM generations ORDER BY id'),
				fullText: after('fts_'),
				vectors: after('vec_'),
				bases: list('SELECT id FROM bases ORDER BY id'),
				orphans:
					count('SELECT count(*) FROM indexed_documents WHERE generation NOT IN (SELECT id FROM generations)') +
					count('SELECT count(*) FROM chunks WHERE document NOT IN (SELECT seq FROM indexed_documents)'),
				chunks: count('SELECT count(*) FROM chunks'),
				embedded: list('SELECT basis FROM generations WHERE basis IS NOT NULL')
					.map((basis) => count(`SELECT count(*) FROM vec_${basis}`))
					.reduce((sum, vectors) => sum + vectors, 0),
			};
		})();
	} finally {
		db.close();
	}
}
