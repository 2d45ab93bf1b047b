import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	type Basis,
	countTerms,
	deserialiseBasis,
	embedChunks,
	project,
	serialiseBasis,
} from '../../src/retrieval/semantic/index.ts';
import { trainBasis, trainTunedBasis } from '../../src/retrieval/training/index.ts';

const chunk = (body_terms: string, title_terms = '') => ({ title_terms, body_terms });

/** Chunks on two subjects; `car` and `engine` never occur together, but both occur with `wheel` and `road`. */
const CHUNKS = [
	chunk('car wheel road drive tyre'),
	chunk('engine wheel road motor tyre'),
	chunk('car road drive tyre brake'),
	chunk('engine road motor brake wheel'),
	chunk('bread flour oven bake yeast'),
	chunk('cake flour oven bake sugar'),
	chunk('bread oven yeast dough bake'),
	chunk('cake sugar dough flour butter'),
];

const directionOf = (basis: Basis, terms: string) => project(basis, countTerms(chunk(terms))).direction;

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
	let [dot, aa, bb] = [0, 0, 0];
	for (let i = 0; i < a.length; i++) {
		dot += (a[i] ?? 0) * (b[i] ?? 0);
		aa += (a[i] ?? 0) ** 2;
		bb += (b[i] ?? 0) ** 2;
	}
	return dot / Math.sqrt(aa * bb || 1);
}

test('words in the same contexts have similar directions', () => {
	const many = Array.from({ length: 40 }, (_, i) => CHUNKS[i % CHUNKS.length] as (typeof CHUNKS)[number]);
	const basis = trainBasis(many);
	const related = cosine(directionOf(basis, 'car'), directionOf(basis, 'wheel'));
	const foreign = cosine(directionOf(basis, 'car'), directionOf(basis, 'flour'));
	assert.ok(related > foreign + 0.2, `${related} against ${foreign}`);
});

test('training the same chunks again gives the same bytes', () => {
	assert.deepEqual(serialiseBasis(trainBasis(CHUNKS)), serialiseBasis(trainBasis(CHUNKS)));
});

test('a stored basis embeds as the trained one did', () => {
	const { basis } = trainTunedBasis(CHUNKS);
	const stored = Buffer.concat([Buffer.alloc(3), serialiseBasis(basis)]).subarray(3);
	const again = deserialiseBasis(stored);
	assert.deepEqual(embedChunks(again, CHUNKS), embedChunks(basis, CHUNKS));
	assert.equal(again.mean_reach, Math.fround(basis.mean_reach));
});

/** A basis that an earlier version stored, trained on three chunks: `car car road`, `car wheel` and `bread oven`. */
const EARLIER_BASIS =
	'UFJMMQQAAAAFAAAAGQAAAJIVBUA48KQ/DN5DP1Gk8D6gF3s/oBd7P6AXez+gF3s/3Cm2O9dxtjvXcbY7eniaO0iPxTt/ANYAgQAAgQBdAIFdAH9jYXIgYnJlYWQgb3ZlbiByb2FkIHdoZWVs';

test('reads a basis of the earlier layout, where the reach of a term is the length of its direction', () => {
	const stored = Buffer.from(EARLIER_BASIS, 'base64');
	const basis = deserialiseBasis(stored);
	assert.deepEqual([basis.dimensions, ...basis.vocabulary.keys()], [4, 'car', 'bread', 'oven', 'road', 'wheel']);
	assert.ok(Math.abs(basis.mean_reach - 0.7651) < 0.0001);
	const { reach, direction } = project(basis, countTerms(chunk('wheel')));
	assert.ok(Math.abs(reach - 0.949) < 0.0001, `${reach}`);
	assert.ok(Math.abs(Math.hypot(...direction) - 1) < 0.0001);
	assert.throws(() => deserialiseBasis(stored.subarray(0, stored.length - 1)), /cut short/);
	assert.deepEqual(deserialiseBasis(serialiseBasis(basis)), basis, 'stored again, it has the present layout');
});

test('bytes that are no basis, or only a part of one, are refused', () => {
	const bytes = serialiseBasis(trainBasis(CHUNKS));
	assert.throws(() => deserialiseBasis(new Uint8Array(100)), /no basis/);
	assert.throws(() => deserialiseBasis(new Uint8Array(0)), /no basis/);
	assert.throws(() => deserialiseBasis(bytes.subarray(0, bytes.length - 1)), /cut short/);
});

test('a term of the title counts twice', () => {
	assert.deepEqual(
		[...countTerms(chunk('b a', 'a'))],
		[
			['a', 3],
			['b', 1],
		],
	);
	assert.equal(countTerms(chunk('', '')).size, 0);
});

test('of two chunks with the same direction, the shorter one has the lower score', () => {
	const long = chunk('bread flour oven bake yeast dough sugar butter cake');
	const basis = trainBasis([...CHUNKS, long]);
	const width = basis.dimensions;
	const { vectors } = embedChunks(basis, [chunk('bread'), long]);
	const lengthValue = (row: number) => {
		const vector = vectors.subarray(row * width, (row + 1) * width);
		return (vector.at(-1) as number) / Math.hypot(...vector);
	};
	assert.ok(lengthValue(0) > lengthValue(1));
});

test('a basis can be trained on nothing, on one chunk, on empty and on equal chunks', () => {
	for (const chunks of [
		[],
		[chunk('a')],
		[chunk(''), chunk('')],
		Array.from({ length: 30 }, () => chunk('same words')),
	]) {
		for (const basis of [trainBasis(chunks), trainTunedBasis(chunks).basis]) assertEmbeds(basis, chunks);
	}
});

function assertEmbeds(basis: Basis, chunks: ReturnType<typeof chunk>[]): void {
	const { vectors } = embedChunks(basis, [...chunks, chunk('a same'), chunk('unknown'), chunk('')]);
	assert.equal(vectors.length, (chunks.length + 3) * basis.dimensions);
	for (const scale of basis.scales) assert.ok(Number.isFinite(scale));
	for (let row = 0; row < chunks.length + 3; row++) {
		const vector = vectors.subarray(row * basis.dimensions, (row + 1) * basis.dimensions);
		assert.ok(
			vector.some((value) => value !== 0),
			'a vector without length has no cosine',
		);
	}
	deserialiseBasis(serialiseBasis(basis));
}

test('reports the share of unknown words', () => {
	const basis = trainBasis(CHUNKS);
	const counted = ({ terms, unknown_terms }: ReturnType<typeof embedChunks>) => [terms, unknown_terms];
	assert.deepEqual(counted(embedChunks(basis, [chunk('car road zebra lion')])), [4, 2]);
	assert.deepEqual(counted(embedChunks(basis, [])), [0, 0]);
});

test('a question about the subject of the chunks has a greater reach than one about a side topic', () => {
	const basis = trainBasis(CHUNKS);
	const reach = (terms: string) => project(basis, countTerms(chunk(terms))).reach;
	assert.ok(reach('car road') > reach('car zebra'));
	assert.equal(reach('zebra lion'), 0);
	assert.equal(reach(''), 0);
});
