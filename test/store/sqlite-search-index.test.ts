import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import type Database from 'better-sqlite3';
import { workerEntry } from '../../src/pool/index.ts';
import { type IndexWrite, openSqliteStore, type Store } from '../../src/store/index.ts';
import { openSearchReader, type SearchReader } from '../../src/store/search/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { applyIndexWrite, dropGenerationsOf } from '../../src/store/sqlite/search-index.ts';
import { searchIndexContract } from './contract/search-index.ts';
import { searchReaderContract } from './contract/search-reader.ts';

suite('the search index of the embedded store', () => {
	let folder: string;
	let store: Store;
	let reader: SearchReader;
	before(async () => {
		folder = await mkdtemp(join(tmpdir(), 'parley-index-'));
		const opened = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
		store = opened;
		reader = await openSearchReader(opened.searchDatabase);
	});
	after(async () => {
		await reader[Symbol.asyncDispose]();
		await store[Symbol.asyncDispose]();
		await rm(folder, { recursive: true, force: true });
	});
	searchIndexContract(() => ({ store, reader }));
	searchReaderContract(() => ({ store, reader }));
});

suite('the tables of the search index', () => {
	let folder: string;
	let db: Database.Database;

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'parley-index-'));
		db = openWritable(join(folder, 'test.db'));
		migrate(db);
	});

	afterEach(() => {
		db.close();
		rmSync(folder, { recursive: true, force: true });
	});

	/** As the writer does it: many changes in one transaction, in a savepoint. */
	function write(...writes: IndexWrite[]): void {
		db.exec('BEGIN IMMEDIATE; SAVEPOINT task');
		try {
			for (const one of writes) applyIndexWrite(db, one);
			db.exec('RELEASE task; COMMIT');
		} catch (error) {
			db.exec('ROLLBACK');
			throw error;
		}
	}

	const open = (generation: string, knowledge_base_id = 'kb_1'): IndexWrite => ({
		op: 'index.open_generation',
		generation,
		knowledge_base_id,
		embedder: 'builtin',
	});
	const openBasis = (basis: string, generation: string): IndexWrite => ({
		...{ op: 'index.open_basis', generation, basis, dimensions: 4, trained_on: 2, model: Uint8Array.of(1) },
	});
	const add = (generation: string, basis: string | null = null): IndexWrite => ({
		op: 'index.add_document',
		...{ generation, document_id: 'doc_a', title: 'A', url: null, language: 'en' },
		chunks: [{ text: 'x', heading_path: [], page: null, title_terms: '', body_terms: 'x' }],
		basis,
		vectors: basis === null ? null : Int8Array.of(1, 0, 0, 0),
	});
	const tables = () =>
		db.prepare("SELECT count(*) FROM sqlite_master WHERE name GLOB '*gen_1*' OR name GLOB '*basis_*'").pluck().get();
	const rows = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

	test('a dropped basis leaves no table', () => {
		write(open('gen_1'), openBasis('basis_1', 'gen_1'));
		const before = tables();
		write(openBasis('basis_2', 'gen_1'), { op: 'index.serve_basis', generation: 'gen_1', basis: 'basis_1' });
		assert.equal(tables(), before);
	});

	test('a dropped generation leaves no row and no table', () => {
		write(open('gen_2'), add('gen_2'));
		const before = tables();
		write(open('gen_1'), openBasis('basis_1', 'gen_1'), add('gen_1', 'basis_1'));
		write({ op: 'index.drop_generation', generation: 'gen_1' });
		assert.equal(tables(), before);
		for (const table of ['chunks', 'indexed_documents', 'generations', 'generation_languages']) {
			assert.equal(rows(table), 1, table);
		}
	});

	test('only an identifier can become part of a statement', () => {
		for (const id of ["x'; DROP TABLE chunks; --", 'GEN', 'a b', '', 'x'.repeat(200)]) {
			assert.throws(() => write(open(id)), /cannot name/);
		}
	});

	test('drops all generations of a knowledge base together, and no other', () => {
		write(open('gen_1'), open('gen_11'), open('gen_3', 'kb_2'));
		write(openBasis('basis_1', 'gen_11'), add('gen_1'), add('gen_3'));
		dropGenerationsOf(db, 'kb_1');
		assert.equal(tables(), 0);
		assert.deepEqual(db.prepare('SELECT id FROM generations').pluck().all(), ['gen_3']);
		assert.equal(rows('chunks'), 1);
	});
});
