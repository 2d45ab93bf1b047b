import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type Database from 'better-sqlite3';
import { createLog } from '../../src/base/index.ts';
import { createWorkerPool } from '../../src/pool/index.ts';
import { DotProductKernel } from '../../src/retrieval/in-memory/dot-product-kernel.ts';
import { InMemoryVectorIndex, strideOf } from '../../src/retrieval/in-memory/in-memory-vector-index.ts';
import { VectorIndexCache } from '../../src/retrieval/in-memory/vector-index-cache.ts';
import type { IndexWrite } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { searchVectorTable } from '../../src/store/sqlite/search/searched-generation.ts';
import { readAllVectors } from '../../src/store/sqlite/search/stored-vectors.ts';
import { applyIndexWrite } from '../../src/store/sqlite/search-index.ts';

/** Not a multiple of the lanes, so rows are padded. */
const DIMENSIONS = 20;

const created = DotProductKernel.create();
assert.ok(created, 'this processor multiplies many values at once');
const products: DotProductKernel = created;

let folder: string;
let db: Database.Database;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'parley-vectors-'));
	db = openWritable(join(folder, 'test.db'));
	migrate(db);
	write(
		{ op: 'index.open_generation', generation: 'gen_1', knowledge_base_id: 'kb_1', embedder: 'builtin' },
		{
			op: 'index.open_basis',
			generation: 'gen_1',
			basis: 'basis_1',
			dimensions: DIMENSIONS,
			trained_on: 1,
			model: new Uint8Array(1),
		},
		{ op: 'index.serve_basis', generation: 'gen_1', basis: 'basis_1' },
	);
});

afterEach(() => {
	db.close();
	rmSync(folder, { recursive: true, force: true });
});

function write(...writes: IndexWrite[]): void {
	db.transaction(() => {
		for (const one of writes) applyIndexWrite(db, one);
	})();
}

/** Pseudo-random values, the same each time. */
function noise(length: number, seed: number): Int8Array {
	let state = seed;
	return Int8Array.from({ length }, () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return (state >>> 24) - 128;
	});
}

function add(document_id: string, vectors: Int8Array | null, count: number): void {
	const chunk = { text: 'x', heading_path: [], page: null, title_terms: '', body_terms: 'x' };
	const chunks = Array.from({ length: count }, () => chunk);
	const place = { generation: 'gen_1', document_id, title: 'X', url: null, language: null, chunks };
	write({ op: 'index.add_document', ...place, basis: vectors && 'basis_1', vectors });
}

test('products are exact, the largest values and rows beyond one window included', () => {
	for (const [step, rows] of [
		[16, 40_000],
		[256, 3000],
		[4096, 70],
	] as const) {
		const values = noise(step * rows, step).fill(-128, 0, step);
		const asked = noise(step, 7).fill(-128, 0, 16);
		const sums = new Float64Array(rows);
		const squares = new Float64Array(rows);
		products.multiplyEach(values, step, asked, sums);
		products.squares(values, step, squares);
		for (let row = 0; row < rows; row++) {
			let sum = 0;
			let square = 0;
			for (let i = 0; i < step; i++) {
				const value = values[row * step + i] as number;
				sum += value * (asked[i] as number);
				square += value * value;
			}
			if (sum !== sums[row] || square !== squares[row]) assert.fail(`row ${row} of ${step} values`);
		}
	}
});

test('the in-memory index finds the same as the store, also with gaps of removed documents', () => {
	for (let n = 0; n < 30; n++) add(`doc_${n}`, noise(9 * DIMENSIONS, n + 1), 9);
	for (let n = 3; n < 30; n += 4) {
		write({ op: 'index.remove_document', generation: 'gen_1', document_id: `doc_${n}` });
	}
	add('doc_late', noise(5 * DIMENSIONS, 99), 5);
	const kept = new InMemoryVectorIndex(products, readAllVectors(db, 'basis_1', DIMENSIONS));
	for (let seed = 200; seed < 220; seed++) {
		const asked = noise(DIMENSIONS, seed);
		const found = kept.nearest(asked, 25);
		const expected = searchVectorTable(db, 'basis_1', asked, 25);
		assert.deepEqual(
			found.map(({ id }) => id),
			expected.map(({ id }) => id),
		);
		found.forEach(({ score }, place) => {
			assert.ok(Math.abs(score - (expected[place]?.score as number)) < 1e-5);
		});
	}
	assert.equal(kept.nearest(noise(DIMENSIONS, 1), 1000).length, readAllVectors(db, 'basis_1', DIMENSIONS).ids.length);
});

test('returns equally near vectors in the order in which they were stored', () => {
	const same = Int8Array.from({ length: 6 * DIMENSIONS }, () => 5);
	const ids = Float64Array.of(9, 4, 7, 1, 8, 2);
	const kept = new InMemoryVectorIndex(products, { dimensions: DIMENSIONS, ids, values: same });
	const near = kept.nearest(new Int8Array(DIMENSIONS).fill(1), 4);
	assert.deepEqual(
		near.map(({ id }) => id),
		[1, 2, 4, 7],
	);
});

test('zero vectors are near to no vector', () => {
	const values = new Int8Array(2 * DIMENSIONS).fill(3, DIMENSIONS);
	const kept = new InMemoryVectorIndex(products, { dimensions: DIMENSIONS, ids: Float64Array.of(1, 2), values });
	const score = (asked: number) => kept.nearest(new Int8Array(DIMENSIONS).fill(asked), 2).map((near) => near.score);
	assert.deepEqual(
		score(1).map((value) => value.toFixed(6)),
		['1.000000', '0.000000'],
	);
	assert.deepEqual(score(0), [0, 0]);
});

test('detects every change of the vectors, and reads them again when two searches in a row find the same version', () => {
	const memory = new VectorIndexCache({ minChunks: 1 });
	let reads = 0;
	const count = () => {
		const version = db.prepare('SELECT changes FROM generations').pluck().get() as number;
		const wanted = { basis: 'basis_1', chunks: 10, dimensions: DIMENSIONS, version };
		const kept = memory.get(wanted, () => {
			reads++;
			return readAllVectors(db, 'basis_1', DIMENSIONS);
		});
		return kept?.nearest(new Int8Array(DIMENSIONS).fill(1), 100).length;
	};
	add('doc_a', noise(2 * DIMENSIONS, 1), 2);
	assert.deepEqual([count(), count(), reads], [2, 2, 1]);
	add('doc_b', noise(DIMENSIONS, 2), 1);
	assert.deepEqual([count(), count(), count(), reads], [undefined, 3, 3, 2]);
	write({ op: 'index.remove_document', generation: 'gen_1', document_id: 'doc_a' });
	assert.deepEqual([count(), count(), reads], [undefined, 1, 3]);
	write({
		op: 'index.copy_document',
		generation: 'gen_1',
		from_document_id: 'doc_b',
		document_id: 'doc_c',
		title: 'C',
		url: null,
	});
	assert.deepEqual([count(), count(), reads], [undefined, 2, 4]);
	add('doc_d', null, 1);
	const chunk_ids = [db.prepare('SELECT max(id) FROM chunks').pluck().get() as number];
	assert.equal(count(), undefined);
	write({ op: 'index.add_vectors', basis: 'basis_1', chunk_ids, vectors: noise(DIMENSIONS, 4) });
	assert.deepEqual([count(), count(), count(), reads], [undefined, 3, 3, 5]);
});

test('bounds the memory: evicts the least recently used vectors and does not cache too few or too many', () => {
	const bytes = InMemoryVectorIndex.bytesOf(10, DIMENSIONS);
	const memory = new VectorIndexCache({ minChunks: 10, maxBytes: 2 * bytes });
	const rows = () => ({ dimensions: DIMENSIONS, ids: new Float64Array(10), values: noise(10 * DIMENSIONS, 3) });
	const read: string[] = [];
	const ask = (basis: string, chunks = 10) =>
		memory.get({ basis, chunks, dimensions: DIMENSIONS, version: 1 }, () => {
			read.push(basis);
			return rows();
		});
	for (const basis of ['a', 'b', 'a', 'c', 'a', 'b']) assert.ok(ask(basis));
	assert.deepEqual(read, ['a', 'b', 'c', 'b']);
	assert.equal(ask('small', 9), null);
	assert.equal(ask('large', 21), null);
	assert.equal(strideOf(DIMENSIONS), 32);
});

test('a search of a large knowledge base finds added documents and no removed ones', async () => {
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	const [generation, basis, embedder] = ['gen_large', 'basis_large', 'acme/vectors'];
	const model = new Uint8Array(0);
	write(
		{ op: 'index.open_generation', generation, knowledge_base_id: 'kb_large', embedder },
		{ op: 'index.open_basis', generation, basis, dimensions: DIMENSIONS, trained_on: 0, model },
		{ op: 'index.serve_basis', generation, basis },
	);
	const put = (document_id: string, vectors: Int8Array) => {
		const chunk = { text: document_id, heading_path: [], page: null, title_terms: '', body_terms: 'word' };
		const chunks = Array.from({ length: vectors.length / DIMENSIONS }, () => chunk);
		const place = { generation, document_id, title: document_id, url: null, language: null };
		write({ op: 'index.add_document', ...place, chunks, basis, vectors });
	};
	const asked = noise(DIMENSIONS, 5);
	const question = { embedder, vector: Float32Array.from(asked) };
	const target = { knowledge_base_id: 'kb_large', generation, basis, hybrid: false, semantic_weight: 1, question };
	const first = async () => {
		const job = { database: join(folder, 'test.db'), targets: [target], query: 'anything', top_k: 1, min_score: 0 };
		return (await pool.search(job)).hits[0]?.document_id;
	};
	put('many', noise(2500 * DIMENSIONS, 11));
	assert.equal(await first(), 'many');
	put('exact', asked);
	assert.equal(await first(), 'exact');
	write({ op: 'index.remove_document', generation, document_id: 'exact' });
	assert.equal(await first(), 'many');
});
