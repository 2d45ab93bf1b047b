import { join } from 'node:path';
import { openReadOnly } from '../../src/store/sqlite/index.ts';

/** What the search index of a data folder is made of: whatever is left of a generation is found here. */
export interface IndexTables {
	generations: string[];
	/** The full-text tables, by the generation that they belong to. */
	fullText: string[];
	/** The vector tables, by the basis that they belong to. */
	vectors: string[];
	bases: string[];
	/** Documents and chunks of no generation that there is. */
	orphans: number;
	/** Chunks, and vectors under the bases that serve. */
	chunks: number;
	embedded: number;
}

/** How many documents the generations have that are being built. */
export function builtDocuments(dataDir: string): number {
	return countIn(
		dataDir,
		'SELECT count(*) FROM indexed_documents WHERE generation IN (SELECT rebuilding FROM knowledge_bases)',
	);
}

/** How many jobs of a kind wait or are in hand. */
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

/** Reads the tables of the search index, beside a running server. */
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
