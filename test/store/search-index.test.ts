import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type Database from 'better-sqlite3';
import type { IndexWrite } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { SearchReader } from '../../src/store/sqlite/search/index.ts';
import {
	applyIndexWrite,
	chunksOfDocument,
	generationOf,
	SEARCH_INDEX_SCHEMA,
} from '../../src/store/sqlite/search-index.ts';

const DIMENSIONS = 4;

let folder: string;
let file: string;
let db: Database.Database;
let reader: SearchReader;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'parley-index-'));
	file = join(folder, 'test.db');
	db = openWritable(file);
	db.exec(SEARCH_INDEX_SCHEMA);
	reader = new SearchReader(file);
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

const found = (term: string, generation = 'gen_1') => reader.keyword(generation, [term], 10).map(({ id }) => id);
const tables = () =>
	db.prepare("SELECT count(*) FROM sqlite_master WHERE name GLOB '*gen_1*' OR name GLOB '*basis_*'").pluck().get();

test('the chunks of a document come in reading order, page by page, with what a reader needs', () => {
	write(open(), add('doc_a', ['one', 'two', 'three']), add('doc_b', ['other']));
	const [first, second] = chunksOfDocument(db, 'gen_1', 'doc_a', -1, 2);
	assert.equal(first?.text, 'text of one');
	assert.deepEqual(first?.heading_path, ['One', 'Two']);
	assert.equal(first?.page, 3);
	assert.equal(second?.position, 1);
	assert.deepEqual(
		chunksOfDocument(db, 'gen_1', 'doc_a', 1, 10).map(({ position }) => position),
		[2],
	);
	assert.deepEqual(chunksOfDocument(db, 'gen_none', 'doc_a', -1, 10), []);
});

test('a document that is added again replaces what it had, everywhere', () => {
	write(open(), openBasis(), serve());
	write(add('doc_a', ['old', 'older'], { basis: 'basis_1', vectors: new Int8Array(2 * DIMENSIONS).fill(5) }));
	const before = found('old');
	write(add('doc_a', ['new'], { basis: 'basis_1', vectors: new Int8Array(DIMENSIONS).fill(7), language: 'de' }));
	assert.deepEqual(found('old'), []);
	assert.equal(found('new').length, 1);
	assert.equal(reader.semantic('basis_1', new Int8Array(DIMENSIONS).fill(1), 10).length, 1);
	assert.equal(reader.vector('basis_1', before[0] as number), undefined);
	assert.equal(generationOf(db, 'gen_1')?.chunk_count, 1);
	assert.deepEqual(reader.languages('gen_1'), ['de']);
});

test('a removed document leaves nothing behind, under no basis', () => {
	write(open(), openBasis('basis_1'), openBasis('basis_2'));
	write(add('doc_a', ['gone'], { basis: 'basis_1', vectors: Int8Array.of(1, 2, 3, 4) }));
	const chunk_ids = found('gone');
	write({ op: 'index.add_vectors', basis: 'basis_2', chunk_ids, vectors: Int8Array.of(4, 3, 2, 1) });
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_a' });
	assert.deepEqual(found('gone'), []);
	for (const basis of ['basis_1', 'basis_2']) {
		assert.deepEqual(reader.semantic(basis, Int8Array.of(1, 1, 1, 1), 10), []);
	}
	assert.equal(reader.chunksWith('gen_1', 'gone'), 0);
	assert.deepEqual(generationOf(db, 'gen_1'), {
		id: 'gen_1',
		knowledge_base_id: 'kb_1',
		basis: null,
		trained_on: 0,
		chunk_count: 0,
	});
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_a' });
});

test('vectors that were computed for chunks that have gone meanwhile are passed over', () => {
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
		reader.semantic('basis_1', Int8Array.of(0, 0, 0, 1), 10).map(({ id, score }) => [id, Math.round(score * 1000)]),
		[[current, 1000]],
	);
});

test('the nearest vectors come first, with their cosines', () => {
	const vectors = Int8Array.of(100, 0, 0, 0, 100, 100, 0, 0, -100, 0, 0, 0);
	write(open(), openBasis(), serve(), add('doc_a', ['x', 'y', 'z'], { basis: 'basis_1', vectors }));
	const ranked = reader.semantic('basis_1', Int8Array.of(127, 0, 0, 0), 2);
	assert.deepEqual(
		ranked.map(({ score }) => score.toFixed(3)),
		['1.000', '0.707'],
	);
	assert.deepEqual(reader.vector('basis_1', ranked[1]?.id as number), Int8Array.of(100, 100, 0, 0));
});

test('a new basis takes over in one commit, and the old one goes with its vectors', () => {
	write(open(), openBasis('basis_1'), serve('basis_1'), openBasis('basis_2'));
	assert.equal(generationOf(db, 'gen_1')?.basis, 'basis_1');
	write(serve('basis_2'));
	assert.equal(generationOf(db, 'gen_1')?.basis, 'basis_2');
	assert.equal(generationOf(db, 'gen_1')?.trained_on, 2);
	assert.equal(reader.model('basis_1'), undefined);
	assert.deepEqual([...(reader.model('basis_2') ?? [])], [1, 2, 3]);
	assert.throws(() => reader.semantic('basis_1', new Int8Array(DIMENSIONS), 1), /no such table/);
});

test('a dropped generation leaves no row and no table, and its neighbours as they were', () => {
	write(open('gen_2'), add('doc_a', ['kept'], { generation: 'gen_2' }));
	const before = tables();
	write(open(), openBasis(), serve(), add('doc_a', ['x'], { basis: 'basis_1', vectors: Int8Array.of(1, 0, 0, 0) }));
	write({ op: 'index.drop_generation', generation: 'gen_1' });
	assert.equal(tables(), before);
	assert.equal(generationOf(db, 'gen_1'), undefined);
	assert.equal(found('kept', 'gen_2').length, 1);
	for (const table of ['chunks', 'indexed_documents', 'generations', 'generation_languages']) {
		assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 1, table);
	}
	write({ op: 'index.drop_generation', generation: 'gen_1' });
});

test('a change that fails halfway leaves nothing of itself', () => {
	write(open(), openBasis());
	const wrong = add('doc_a', ['x'], { basis: 'basis_1', vectors: new Int8Array(3) });
	assert.throws(() => write(open('gen_2'), wrong), /3 values came/);
	assert.equal(generationOf(db, 'gen_2'), undefined);
	assert.throws(() => reader.keyword('gen_2', ['x'], 1), /no such table/);
	write(open('gen_2'), add('doc_a', ['x'], { generation: 'gen_2' }));
	assert.equal(found('x', 'gen_2').length, 1);
});

test('what does not exist is refused', () => {
	write(open());
	assert.throws(() => write(add('doc_a', ['x'], { generation: 'gen_none' })), /gen_none/);
	assert.throws(() => write(add('doc_a', ['x'], { basis: 'basis_none', vectors: new Int8Array(4) })), /basis_none/);
	assert.throws(() => write(serve('basis_none')), /basis_none/);
	assert.throws(() => write({ ...openBasis(), dimensions: 0 } as IndexWrite), /dimensions/);
});

test('only an identifier becomes part of a statement', () => {
	for (const id of ["x'; DROP TABLE chunks; --", 'GEN', 'a b', '', 'x'.repeat(200)]) {
		assert.throws(() => write(open(id)), /cannot name/);
		assert.throws(() => reader.keyword(id, ['x'], 1), /cannot name/);
	}
});

test('terms of every script and the full text’s own operators are plain words', () => {
	const words = ['हिन्दी', 'كتاب', 'ลูกค้า', '日本語', 'and', 'or', 'not', 'near', 'zuruckgeb', 'ﬀ'];
	write(open(), add('doc_a', [words.join(' ')]), add('doc_b', ['nothing']));
	for (const word of words) assert.equal(found(word).length, 1, word);
	assert.deepEqual(found('हिन'), []);
	assert.equal(reader.chunksWith('gen_1', 'head'), 2);
});

test('a term of the title counts twice, and a repeated one in the query again', () => {
	write(open(), ...Array.from({ length: 8 }, (_, i) => add(`doc_${i}`, [`filler word${i} text`])));
	const titled = add('doc_t', ['a a']);
	titled.chunks[0] = { ...titled.chunks[0], title_terms: 'special', body_terms: 'one two' } as never;
	write(titled, add('doc_u', ['special one two']));
	const ranked = reader.keyword('gen_1', ['special'], 10);
	const titles = ranked.map(({ id }) => reader.chunk(id)?.document_id);
	assert.deepEqual(titles, ['doc_t', 'doc_u']);
	const twice = reader.keyword('gen_1', ['special', 'special'], 10);
	assert.ok((twice[0]?.score as number) > 1.9 * (ranked[0]?.score as number));
});

test('a search sees one state of the index, whatever is committed meanwhile', () => {
	write(open(), add('doc_a', ['x']));
	reader.snapshot(() => {
		assert.equal(found('x').length, 1);
		write({ op: 'index.drop_generation', generation: 'gen_1' });
		assert.equal(found('x').length, 1);
		assert.equal(reader.generation('gen_1')?.chunk_count, 1);
	});
	assert.equal(reader.generation('gen_1'), undefined);
});
