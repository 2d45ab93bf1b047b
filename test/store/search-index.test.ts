import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type Database from 'better-sqlite3';
import type { IndexWrite } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { SqliteSearchIndexReader } from '../../src/store/sqlite/readers/search-index.ts';
import { SearchReader } from '../../src/store/sqlite/search/index.ts';
import { applyIndexWrite, dropGenerationsOf } from '../../src/store/sqlite/search-index.ts';
import { statementsOf } from '../../src/store/sqlite/statements.ts';

const DIMENSIONS = 4;

let folder: string;
let file: string;
let db: Database.Database;
let reader: SearchReader;
let index: SqliteSearchIndexReader;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'parley-index-'));
	file = join(folder, 'test.db');
	db = openWritable(file);
	migrate(db);
	reader = new SearchReader(file);
	index = new SqliteSearchIndexReader(statementsOf(db));
});

afterEach(() => {
	reader[Symbol.dispose]();
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

const open = (generation = 'gen_1'): IndexWrite => ({
	op: 'index.open_generation',
	generation,
	knowledge_base_id: 'kb_1',
	embedder: 'builtin',
});
const openBasis = (basis = 'basis_1', generation = 'gen_1'): IndexWrite => ({
	op: 'index.open_basis',
	generation,
	basis,
	dimensions: DIMENSIONS,
	trained_on: 2,
	model: Uint8Array.of(1, 2, 3),
});
const serve = (basis = 'basis_1', generation = 'gen_1'): IndexWrite => ({ op: 'index.serve_basis', generation, basis });

function add(
	document_id: string,
	bodies: string[],
	more: Partial<Extract<IndexWrite, { op: 'index.add_document' }>> = {},
) {
	return {
		op: 'index.add_document',
		generation: 'gen_1',
		document_id,
		title: `Title of ${document_id}`,
		url: null,
		language: 'en',
		chunks: bodies.map((body) => ({
			text: `text of ${body}`,
			heading_path: ['One', 'Two'],
			page: 3,
			title_terms: 'head',
			body_terms: body,
		})),
		basis: null,
		vectors: null,
		...more,
	} as const satisfies IndexWrite;
}

const found = (term: string, generation = 'gen_1') => reader.searchKeywords(generation, [term], 10).map(({ id }) => id);
const tables = () =>
	db.prepare("SELECT count(*) FROM sqlite_master WHERE name GLOB '*gen_1*' OR name GLOB '*basis_*'").pluck().get();

test('lists the chunks of a document in reading order, page by page, from the serving generation', async () => {
	const other = { generation: 'gen_2' };
	write(
		open(),
		add('doc_a', ['one', 'two', 'three']),
		add('doc_b', ['other']),
		open('gen_2'),
		add('doc_a', ['new'], other),
	);
	const chunks = (after: number, limit: number) => index.servingChunks('kb_1', 'doc_a', after, limit);
	assert.deepEqual(await chunks(-1, 10), [], 'there is no such knowledge base');
	db.exec(`INSERT INTO knowledge_bases (id, version, workspace_id, name, search_settings, documents_total,
		documents_pending, documents_failed, created_at, updated_at) VALUES ('kb_1', 1, 'ws_1', 'Shop', '{}', 2, 0, 0, 1, 1)`);
	assert.deepEqual(await chunks(-1, 10), [], 'nothing serves it yet');

	const serve = db.prepare('UPDATE knowledge_bases SET generation = ?');
	serve.run('gen_1');
	const [first, second] = await chunks(-1, 2);
	assert.equal(first?.text, 'text of one');
	assert.deepEqual(first?.heading_path, ['One', 'Two']);
	assert.equal(first?.page, 3);
	assert.equal(second?.position, 1);
	assert.deepEqual(
		(await chunks(1, 10)).map(({ position }) => position),
		[2],
	);
	serve.run('gen_2');
	assert.deepEqual(
		(await chunks(-1, 10)).map(({ text }) => text),
		['text of new'],
	);
});

test('a document that is added again replaces its earlier chunks everywhere', async () => {
	write(open(), openBasis(), serve());
	write(add('doc_a', ['old', 'older'], { basis: 'basis_1', vectors: new Int8Array(2 * DIMENSIONS).fill(5) }));
	const before = found('old');
	write(add('doc_a', ['new'], { basis: 'basis_1', vectors: new Int8Array(DIMENSIONS).fill(7), language: 'de' }));
	assert.deepEqual(found('old'), []);
	assert.equal(found('new').length, 1);
	assert.equal(reader.searchNearest('basis_1', new Int8Array(DIMENSIONS).fill(1), 10).length, 1);
	assert.equal(reader.vector('basis_1', before[0] as number), undefined);
	assert.equal((await index.generation('gen_1'))?.chunk_count, 1);
	assert.deepEqual(reader.languages('gen_1'), ['de']);
});

test('a removed document leaves nothing behind under any basis', async () => {
	write(open(), openBasis('basis_1'), openBasis('basis_2'));
	write(add('doc_a', ['gone'], { basis: 'basis_1', vectors: Int8Array.of(1, 2, 3, 4) }));
	const chunk_ids = found('gone');
	write({ op: 'index.add_vectors', basis: 'basis_2', chunk_ids, vectors: Int8Array.of(4, 3, 2, 1) });
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_a' });
	assert.deepEqual(found('gone'), []);
	for (const basis of ['basis_1', 'basis_2']) {
		assert.deepEqual(reader.searchNearest(basis, Int8Array.of(1, 1, 1, 1), 10), []);
	}
	assert.equal(reader.documentFrequency('gen_1', 'gone'), 0);
	assert.deepEqual(await index.generation('gen_1'), {
		id: 'gen_1',
		knowledge_base_id: 'kb_1',
		embedder: 'builtin',
		basis: null,
		dimensions: null,
		trained_on: 0,
		chunk_count: 0,
	});
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_a' });
});

test('skips vectors of chunks that were removed meanwhile', () => {
	write(open(), openBasis(), add('doc_a', ['first']));
	const old = found('first');
	write(add('doc_a', ['second']));
	const [current] = found('second');
	assert.notDeepEqual([current], old, 'an id is never given twice');
	const chunk_ids = [...old, current as number];
	const vectors = Int8Array.of(1, 1, 1, 1, 0, 0, 0, 9);
	// Also twice, as after a crash in the middle of a training.
	for (let round = 0; round < 2; round++) write({ op: 'index.add_vectors', basis: 'basis_1', chunk_ids, vectors });
	assert.deepEqual(
		reader
			.searchNearest('basis_1', Int8Array.of(0, 0, 0, 1), 10)
			.map(({ id, score }) => [id, Math.round(score * 1000)]),
		[[current, 1000]],
	);
});

test('the nearest vectors come first, with their cosines', () => {
	const vectors = Int8Array.of(100, 0, 0, 0, 100, 100, 0, 0, -100, 0, 0, 0);
	write(open(), openBasis(), serve(), add('doc_a', ['x', 'y', 'z'], { basis: 'basis_1', vectors }));
	const ranked = reader.searchNearest('basis_1', Int8Array.of(127, 0, 0, 0), 2);
	assert.deepEqual(
		ranked.map(({ score }) => score.toFixed(3)),
		['1.000', '0.707'],
	);
	assert.deepEqual(reader.vector('basis_1', ranked[1]?.id as number), Int8Array.of(100, 100, 0, 0));
});

test('a new basis takes over in one commit, which drops the old one with its vectors', async () => {
	write(open(), openBasis('basis_1'), serve('basis_1'), openBasis('basis_2'));
	assert.equal((await index.generation('gen_1'))?.basis, 'basis_1');
	write(serve('basis_2'));
	assert.equal((await index.generation('gen_1'))?.basis, 'basis_2');
	assert.equal((await index.generation('gen_1'))?.trained_on, 2);
	assert.equal(reader.model('basis_1'), undefined);
	assert.deepEqual([...(reader.model('basis_2') ?? [])], [1, 2, 3]);
	assert.throws(() => reader.searchNearest('basis_1', new Int8Array(DIMENSIONS), 1), /no such table/);
});

test('drops the bases of a generation that do not serve, and no other', () => {
	write(open(), openBasis('basis_1'), serve('basis_1'), openBasis('basis_2'), openBasis('basis_3'));
	write(open('gen_2'), openBasis('basis_4', 'gen_2'));
	write({ op: 'index.drop_unserved_bases', generation: 'gen_1' });
	const bases = () => db.prepare('SELECT id FROM bases ORDER BY id').pluck().all();
	assert.deepEqual(bases(), ['basis_1', 'basis_4']);
	const tables = "SELECT count(*) FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' AND name LIKE 'vec_%'";
	assert.equal(db.prepare(tables).pluck().get(), 2);
	for (const generation of ['gen_2', 'gen_gone']) write({ op: 'index.drop_unserved_bases', generation });
	assert.deepEqual(bases(), ['basis_1']);
});

test('a dropped generation leaves no row and no table, and other generations unchanged', async () => {
	write(open('gen_2'), add('doc_a', ['kept'], { generation: 'gen_2' }));
	const before = tables();
	write(open(), openBasis(), serve(), add('doc_a', ['x'], { basis: 'basis_1', vectors: Int8Array.of(1, 0, 0, 0) }));
	write({ op: 'index.drop_generation', generation: 'gen_1' });
	assert.equal(tables(), before);
	assert.equal(await index.generation('gen_1'), undefined);
	assert.equal(found('kept', 'gen_2').length, 1);
	for (const table of ['chunks', 'indexed_documents', 'generations', 'generation_languages']) {
		assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 1, table);
	}
	write({ op: 'index.drop_generation', generation: 'gen_1' });
});

test('a change that fails halfway is rolled back', async () => {
	write(open(), openBasis());
	const wrong = add('doc_a', ['x'], { basis: 'basis_1', vectors: new Int8Array(3) });
	assert.throws(() => write(open('gen_2'), wrong), /3 values came/);
	assert.equal(await index.generation('gen_2'), undefined);
	assert.throws(() => reader.searchKeywords('gen_2', ['x'], 1), /no such table/);
	write(open('gen_2'), add('doc_a', ['x'], { generation: 'gen_2' }));
	assert.equal(found('x', 'gen_2').length, 1);
});

test('refuses changes of what does not exist', () => {
	write(open());
	assert.throws(() => write(add('doc_a', ['x'], { generation: 'gen_none' })), /gen_none/);
	assert.throws(() => write(add('doc_a', ['x'], { basis: 'basis_none', vectors: new Int8Array(4) })), /basis_none/);
	assert.throws(() => write(serve('basis_none')), /basis_none/);
	assert.throws(() => write({ ...openBasis(), dimensions: 0 } as IndexWrite), /dimensions/);
});

test('only an identifier can become part of a statement', () => {
	for (const id of ["x'; DROP TABLE chunks; --", 'GEN', 'a b', '', 'x'.repeat(200)]) {
		assert.throws(() => write(open(id)), /cannot name/);
		assert.throws(() => reader.searchKeywords(id, ['x'], 1), /cannot name/);
	}
});

test('treats terms of every script and the operators of full text as plain words', () => {
	const words = ['हिन्दी', 'كتاب', 'ลูกค้า', '日本語', 'and', 'or', 'not', 'near', 'zuruckgeb', 'ﬀ'];
	write(open(), add('doc_a', [words.join(' ')]), add('doc_b', ['nothing']));
	for (const word of words) assert.equal(found(word).length, 1, word);
	assert.deepEqual(found('हिन'), []);
	assert.equal(reader.documentFrequency('gen_1', 'head'), 2);
});

test('a term of the title counts twice, and a repeated one in the query again', () => {
	write(open(), ...Array.from({ length: 8 }, (_, i) => add(`doc_${i}`, [`filler word${i} text`])));
	const titled = add('doc_t', ['a a']);
	titled.chunks[0] = { ...titled.chunks[0], title_terms: 'special', body_terms: 'one two' } as never;
	write(titled, add('doc_u', ['special one two']));
	const ranked = reader.searchKeywords('gen_1', ['special'], 10);
	const titles = ranked.map(({ id }) => reader.chunk(id)?.document_id);
	assert.deepEqual(titles, ['doc_t', 'doc_u']);
	const twice = reader.searchKeywords('gen_1', ['special', 'special'], 10);
	assert.ok((twice[0]?.score as number) > 1.9 * (ranked[0]?.score as number));
});

test('a search sees one snapshot of the index', () => {
	write(open(), add('doc_a', ['x']));
	reader.snapshot(() => {
		assert.equal(found('x').length, 1);
		write({ op: 'index.drop_generation', generation: 'gen_1' });
		assert.equal(found('x').length, 1);
		assert.equal(reader.generation('gen_1')?.chunk_count, 1);
	});
	assert.equal(reader.generation('gen_1'), undefined);
});

/** A record of a document as the index knows documents: by its id, its version, and what it tells of the index. */
const recordDocument = (id: string, version: number, status = 'indexed') =>
	db
		.prepare(
			`INSERT INTO documents (id, version, workspace_id, knowledge_base_id, title, source_type, status, attempts,
				chunk_count, created_at, updated_at) VALUES (?, ?, 'ws_1', 'kb_1', 'T', 'text', ?, 0, 9, 1, 1)`,
		)
		.run(id, version, status);

test('coverage lists the documents of a generation that is being built, with their versions', async () => {
	for (const [at, id] of ['doc_a', 'doc_b', 'doc_c', 'doc_d'].entries()) recordDocument(id, at + 1);
	write(open(), open('gen_2'), add('doc_d', ['other'], { generation: 'gen_2' }));
	write(
		add('doc_a', ['x'], { built_from: { version: 1, page_count: null, missing_text: null } }),
		add('doc_b', [], { built_from: { version: 1, page_count: null, missing_text: null } }),
		{
			op: 'index.copy_document',
			generation: 'gen_1',
			from_generation: 'gen_2',
			from_document_id: 'doc_d',
			document_id: 'doc_d',
			title: 'T',
			url: null,
		},
	);
	const told = async (after?: { at: number; id: string }, limit = 10) =>
		(await index.coverage('kb_1', 'gen_1', after, limit)).map(({ document, built_from }) => [document.id, built_from]);
	assert.deepEqual(await told(), [
		['doc_a', 1],
		['doc_b', 1],
		['doc_c', null],
		['doc_d', 0],
	]);
	assert.deepEqual(await told({ at: 1, id: 'doc_a' }, 2), [
		['doc_b', 1],
		['doc_c', null],
	]);
	assert.deepEqual(reader.languages('gen_1'), ['en'], 'a document without text has none');
	assert.equal((await index.generation('gen_1'))?.chunk_count, 2);
	assert.equal(found('other').length, 1);
});

test('describes documents by the new generation, except those that have changed since', async () => {
	for (const [id, version] of Object.entries({ doc_a: 4, doc_b: 5, doc_c: 6 })) recordDocument(id, version);
	recordDocument('doc_d', 7, 'processing');
	write(
		open(),
		...['doc_a', 'doc_b', 'doc_d'].map((id) =>
			add(id, ['x', 'y'], { built_from: { version: 4, page_count: 3, missing_text: 'Page 2 is missing.' } }),
		),
	);
	const describe = (indexed_at: number): IndexWrite => {
		const document_ids = ['doc_a', 'doc_b', 'doc_c', 'doc_d', 'doc_none'];
		return { op: 'index.describe_documents', generation: 'gen_1', document_ids, indexed_at };
	};
	const told = async () =>
		(await index.coverage('kb_1', 'gen_1', undefined, 10)).map(({ document, built_from }) => {
			const { id, version, chunk_count, page_count, language, error, indexed_at } = document;
			return [id, version, built_from, chunk_count, page_count, language, error?.message, indexed_at];
		});
	write(describe(77));
	const described = [
		['doc_b', 5, 4, 9, null, null, undefined, null],
		['doc_c', 6, null, 9, null, null, undefined, null],
		['doc_d', 7, 4, 9, null, null, undefined, null],
	];
	assert.deepEqual(await told(), [['doc_a', 5, 5, 2, 3, 'en', 'Page 2 is missing.', 77], ...described]);
	// Again, as after a crash before the swap.
	write(describe(78));
	assert.deepEqual(await told(), [['doc_a', 6, 6, 2, 3, 'en', 'Page 2 is missing.', 78], ...described]);
});

test('finds the terms of later chunks of one generation in order', async () => {
	write(open(), open('gen_2'), add('doc_a', ['one', 'two']), add('doc_b', ['other'], { generation: 'gen_2' }));
	const [, second] = reader.allTerms('gen_1');
	write(add('doc_c', ['three', 'four']));
	const bodies = async (limit: number) =>
		(await index.termsAfter('gen_1', second?.id ?? 0, limit)).map(({ body_terms }) => body_terms);
	assert.deepEqual(await bodies(10), ['three', 'four']);
	assert.deepEqual(await bodies(1), ['three']);
	assert.deepEqual(await index.termsAfter('gen_1', 0, 10), reader.allTerms('gen_1'));
});

test('finds the texts of later chunks of one generation in order, with title and headings', async () => {
	write(open(), open('gen_2'), add('doc_a', ['one', 'two']), add('doc_b', ['other'], { generation: 'gen_2' }));
	const all = await index.textsAfter('gen_1', 0, 10);
	const about = { title: 'Title of doc_a', heading_path: ['One', 'Two'] };
	assert.deepEqual(
		all.map(({ id, ...rest }) => rest),
		[
			{ ...about, text: 'text of one' },
			{ ...about, text: 'text of two' },
		],
	);
	assert.deepEqual(await index.textsAfter('gen_1', all[0]?.id ?? 0, 10), all.slice(1));
});

test('a basis records its progress, also past removed chunks', async () => {
	write(open(), add('doc_a', ['one', 'two']), add('doc_b', ['three']));
	assert.equal(await index.openedBasis('gen_1'), undefined);
	write(openBasis());
	assert.deepEqual(await index.openedBasis('gen_1'), { id: 'basis_1', dimensions: DIMENSIONS, embedded_to: 0 });
	const [one, two, three] = reader.allTerms('gen_1').map(({ id }) => id) as [number, number, number];
	const add1 = (...chunk_ids: number[]): IndexWrite => ({
		op: 'index.add_vectors',
		basis: 'basis_1',
		chunk_ids,
		vectors: new Int8Array(chunk_ids.length * DIMENSIONS).fill(1),
	});
	write(add1(one, two));
	assert.equal((await index.openedBasis('gen_1'))?.embedded_to, two);
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_b' }, add1(three));
	assert.equal((await index.openedBasis('gen_1'))?.embedded_to, three);
	write(add1(one));
	assert.equal((await index.openedBasis('gen_1'))?.embedded_to, three);
});

test('a basis returns the sample that it was opened with, if any', async () => {
	const sample = Int8Array.of(127, -127, 0, 5);
	write(open(), openBasis(), { ...openBasis('basis_2'), sample } as IndexWrite);
	assert.deepEqual(
		[await index.sampleOf('basis_1'), await index.sampleOf('basis_2'), await index.sampleOf('none')],
		[undefined, sample, undefined],
	);
});

test('a generation names its embedder and accepts vectors of its own bases only', async () => {
	const embedder = 'openai/text-embedding-3-small';
	write(open('gen_2'), { op: 'index.open_generation', generation: 'gen_1', knowledge_base_id: 'kb_1', embedder });
	write({ ...openBasis(), floor: 0.25 } as IndexWrite, openBasis('basis_2', 'gen_2'), serve());
	const { embedder: told, dimensions } = (await index.generation('gen_1')) ?? {};
	assert.deepEqual([told, dimensions], [embedder, DIMENSIONS]);
	assert.deepEqual(reader.vectorInfo('basis_1'), { dimensions: DIMENSIONS, floor: 0.25 });
	const vectors = Int8Array.of(1, 2, 3, 4);
	assert.throws(() => write(add('doc_a', ['x'], { basis: 'basis_2', vectors })), /has no basis basis_2/);
	assert.deepEqual(found('x'), [], 'nothing of it is written');
});

test('drops all generations of a knowledge base together, and no other', async () => {
	write(open(), open('gen_2'), {
		op: 'index.open_generation',
		generation: 'gen_3',
		knowledge_base_id: 'kb_2',
		embedder: 'builtin',
	});
	write(openBasis('basis_1', 'gen_2'), add('doc_a', ['x']), add('doc_a', ['x'], { generation: 'gen_3' }));
	dropGenerationsOf(db, 'kb_1');
	assert.equal(tables(), 0);
	assert.deepEqual([await index.generation('gen_1'), await index.generation('gen_2')], [undefined, undefined]);
	assert.equal(found('x', 'gen_3').length, 1);
});
