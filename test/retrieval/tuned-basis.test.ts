import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Basis, countTerms, project, serialiseBasis } from '../../src/retrieval/semantic/index.ts';
import { chooseSemanticWeight } from '../../src/retrieval/training/choose-weight.ts';
import { trainTunedBasis } from '../../src/retrieval/training/index.ts';
import { holdOutPieces } from '../../src/retrieval/training/pseudo-queries.ts';
import { seededNoise } from '../../src/retrieval/training/random.ts';

const SUBJECTS = 20;

const chunk = (body_terms: string, title_terms = '') => ({ title_terms, body_terms });

/** A basis in which all terms of a subject have the same direction. */
function basisOf(subjectOf: Record<string, number>, directions: number): Basis {
	const terms = Object.keys(subjectOf);
	const values = new Int8Array(terms.length * directions);
	for (const [row, term] of terms.entries()) values[row * directions + (subjectOf[term] as number)] = 127;
	return {
		dimensions: directions + 1,
		vocabulary: new Map(terms.map((term, row) => [term, row])),
		weights: new Float32Array(terms.length).fill(1),
		unknown_weight: 1,
		directions: values,
		scales: new Float32Array(terms.length).fill(1 / 127),
		reaches: new Float32Array(terms.length).fill(1),
		mean_length: 1,
		mean_reach: 1,
	};
}

/** A knowledge base about several subjects. Each chunk has 30 words of its subject, of which one is unique. */
function manyChunks(count: number) {
	const noise = seededNoise(1);
	return Array.from({ length: count }, (_, at) => {
		const subject = at % SUBJECTS;
		const words = Array.from({ length: 29 }, () => `s${subject}w${Math.floor((noise() + 1) * 20)}`);
		return chunk(['unique', ...words].join(' ').replace('unique', `unique${at}`), `title${subject}`);
	});
}

test('the semantic half gets the greater weight where questions use other words than the texts', () => {
	const subjectOf: Record<string, number> = {};
	for (let subject = 0; subject < SUBJECTS; subject++) {
		subjectOf[`asked${subject}`] = subject;
		subjectOf[`written${subject}`] = subject;
	}
	const chunks = Array.from({ length: SUBJECTS }, (_, subject) => chunk(`written${subject}`));
	const pieces = chunks.map((_, subject) => ({ chunk: subject, terms: [`asked${subject}`] }));
	assert.equal(chooseSemanticWeight(basisOf(subjectOf, SUBJECTS), chunks, pieces), 0.7);
});

test('the keyword half gets the greater weight where the vectors do not tell the texts apart', () => {
	const names = Array.from({ length: SUBJECTS }, (_, at) => `name${at}`);
	const basis = basisOf(Object.fromEntries(names.map((name) => [name, 0])), 1);
	const pieces = names.map((name, at) => ({ chunk: at, terms: [name] }));
	assert.equal(
		chooseSemanticWeight(
			basis,
			names.map((name) => chunk(name)),
			pieces,
		),
		0.35,
	);
});

test('without pieces there is no choice', () => {
	assert.equal(chooseSemanticWeight(basisOf({ word: 0 }, 1), [chunk('word')], []), null);
	assert.equal(trainTunedBasis(manyChunks(20)).semanticWeight, null, 'twenty chunks are too few');
});

test('holds out pieces of a quarter of the chunks, and no word that only one chunk has', () => {
	const all = manyChunks(80);
	const { chunks, pieces } = holdOutPieces(all);
	assert.equal(pieces.length, 20);
	for (const { chunk: at, terms } of pieces) {
		const [before, after] = [all[at], chunks[at]].map((one) => countTerms(one ?? assert.fail()));
		assert.ok(after?.has(`unique${at}`), 'the unique word stays');
		assert.ok(terms.length <= 10 && terms.every((term) => before?.has(term)));
		const count = (terms: Map<string, number> | undefined) => [...(terms?.values() ?? [])].reduce((a, b) => a + b, 0);
		assert.equal(count(before) - count(after), terms.length, 'the others leave the chunk');
	}
	assert.deepEqual(holdOutPieces(all), { chunks, pieces }, 'repeatably');
	assert.deepEqual(holdOutPieces(all.slice(0, 39)), { chunks: all.slice(0, 39), pieces: [] });
});

test('a tuned training of the same chunks gives the same bytes and the same weight', () => {
	const [first, second] = [trainTunedBasis(manyChunks(60)), trainTunedBasis(manyChunks(60))];
	assert.deepEqual(serialiseBasis(first.basis), serialiseBasis(second.basis));
	assert.equal(first.semanticWeight, second.semanticWeight);
	assert.ok(first.semanticWeight === 0.7 || first.semanticWeight === 0.35, `${first.semanticWeight}`);
});

test('a tuned basis knows every word of a small knowledge base, also those of the pieces', () => {
	const all = manyChunks(60);
	const { basis } = trainTunedBasis(all);
	for (const one of all) assert.equal(project(basis, countTerms(one)).unknown_terms, 0);
});
