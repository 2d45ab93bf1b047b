import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyseQuery, type Vocabulary } from '../../src/retrieval/ranking/analysed-query.ts';
import { confidence, coverage, familiarity } from '../../src/retrieval/ranking/confidence.ts';
import { fuse } from '../../src/retrieval/ranking/fusion.ts';
import { type GenerationIndex, searchGeneration } from '../../src/retrieval/ranking/search-generation.ts';
import { editDistance, SpellingCorrector } from '../../src/retrieval/ranking/spelling-corrector.ts';
import { trainBasis } from '../../src/retrieval/training/index.ts';
import { queryWords } from '../../src/text/index.ts';

const counted = (counts: Record<string, number>, chunks = 100): Vocabulary => ({
	basis: null,
	spelling: new SpellingCorrector(Object.keys(counts)),
	chunks,
	chunksWith: (term) => counts[term] ?? 0,
});

test('the semantic weight decides which half leads', () => {
	const keyword = new Map([
		[1, 10],
		[2, 5],
	]);
	const semantic = new Map([
		[2, 0.9],
		[3, 0.8],
	]);
	const order = (weight: number) => fuse(keyword, semantic, weight).map(({ id }) => id);
	assert.deepEqual(order(0), [1, 2, 3]);
	assert.deepEqual(order(1), [2, 3, 1]);
	assert.deepEqual(order(0.5), [2, 1, 3]);
	for (const { fusedScore } of fuse(keyword, semantic, 0.5)) assert.ok(fusedScore >= 0 && fusedScore <= 1);
});

test('a half that found nothing, or nothing but opposites, takes nothing away', () => {
	assert.deepEqual(fuse(new Map(), new Map(), 0.5), []);
	assert.deepEqual(
		fuse(new Map(), new Map([[1, -0.5]]), 0.5).map(({ fusedScore }) => fusedScore),
		[0],
	);
});

test('searches in the context only if the message says nothing without it, and corrects each word once', async () => {
	const corrected: string[] = [];
	const searched: string[][] = [];
	const index: GenerationIndex = {
		chunks: 10,
		languages: [null],
		semantic: {
			basis: trainBasis([{ title_terms: '', body_terms: 'refund' }]),
			spelling: {
				nearest(word) {
					corrected.push(word);
					return null;
				},
			},
		},
		chunksWith: (term) => (term === 'refund' ? 3 : 0),
		keyword(terms) {
			searched.push([...terms]);
			return [{ id: 1, score: 1 }];
		},
		nearest: () => [],
		vector: () => undefined,
		terms: () => new Set(['refund']),
		texts: async () => new Map(),
	};
	const words = queryWords('refund zebra', [null]);
	const options = { hybrid: true, semantic_weight: 0.5, limit: 5 };
	const search = async (weight: number) =>
		(await searchGeneration(index, { words, context: { words, asked: words, weight } }, options)).hits.map(
			({ id }) => id,
		);
	assert.deepEqual(await search(1), [1]);
	assert.deepEqual(searched, [['refund']]);
	assert.equal(new Set(corrected).size, corrected.length);
	assert.deepEqual(await search(0.5), [1]);
	assert.equal(searched.length, 3);
});

test('confidence is between 0 and 1, and needs every kind of evidence', () => {
	assert.equal(confidence({ coverage: 1, cosine: 1, familiarity: 1 }), 1);
	assert.equal(confidence({ coverage: 0, cosine: 1, familiarity: 1 }), 0);
	assert.equal(confidence({ coverage: 1, cosine: -1, familiarity: 1 }), 0);
	assert.ok(confidence({ coverage: 0.3, cosine: 0.3, familiarity: 0.3 }) < 0.2);
	assert.ok(confidence({ coverage: 0.6, cosine: 0.6, familiarity: 0.6 }) > 0.8);
});

test('coverage weighs rare words more, and halves what a correction found', () => {
	const about = [
		{ terms: ['rare'], weight: 6, reliability: 1 },
		{ terms: ['usual'], weight: 1, reliability: 1 },
	];
	const only = (term: string) => coverage(about, new Map([[term, 1]]), 1000);
	assert.ok(only('rare') > 0.8 && only('usual') < 0.2);
	const guess = [{ terms: ['rare'], weight: 6, reliability: 0.5 }];
	assert.equal(coverage(guess, new Map([['rare', 1]]), 1000), 0.5);
	assert.equal(coverage([], new Map(), 10), 0);
	assert.equal(familiarity(0, 0), 0);
});

test('corrects only unknown words', () => {
	const vocabulary = counted({ refund: 10, policy: 5, polish: 1 });
	const terms = (query: string) => analyseQuery(queryWords(query, [null]), vocabulary).terms;
	assert.deepEqual(terms('refnud'), ['refund']);
	assert.deepEqual(terms('polish'), ['polish']);
	assert.deepEqual(terms('zebra'), []);
});

test('a corrected word costs confidence once: it halves the coverage, and the vectors see the corrected word', () => {
	const { contentWords, contentCounts, counts } = analyseQuery(
		queryWords('refnud', [null]),
		counted({ refund: 10, policy: 5 }),
	);
	assert.equal(coverage(contentWords, new Map([['refund', 1]]), 100), 0.5);
	assert.deepEqual([...contentCounts], [['refund', 1]]);
	assert.deepEqual(counts, contentCounts);
});

test('corrects transpositions, deletions, insertions and replacements, but not numbers and short words', () => {
	const spelling = new SpellingCorrector(['delivery', 'deliver', 'warranty', '12345', 'user']);
	assert.equal(spelling.nearest('delivrey'), 'delivery');
	assert.equal(spelling.nearest('warrenty'), 'warranty');
	assert.equal(spelling.nearest('wwarranty'), 'warranty');
	assert.equal(spelling.nearest('12346'), null);
	assert.equal(spelling.nearest('usre'), null);
	assert.equal(spelling.nearest('completely'), null);
	assert.equal(editDistance('abcd', 'acbd', 2), 1);
	assert.equal(editDistance('kitten', 'sitting', 5), 3);
	assert.ok(editDistance('kitten', 'sitting', 1) > 1);
});

test('a form from a document with a wrongly detected language does not outweigh the usual form', () => {
	const vocabulary = counted({ comput: 20, computers: 2 });
	assert.deepEqual(analyseQuery(queryWords('computers', ['en', 'it']), vocabulary).terms, ['comput']);
	const bilingual = counted({ comput: 20, computers: 15 });
	assert.deepEqual(analyseQuery(queryWords('computers', ['en', 'it']), bilingual).terms, ['comput', 'computers']);
});

test('drops words that most chunks have if there are rarer ones', () => {
	const vocabulary = counted({ system: 90, refund: 3 });
	const terms = (query: string) => analyseQuery(queryWords(query, [null]), vocabulary).terms;
	assert.deepEqual(terms('refund system refund'), ['refund', 'refund']);
	assert.deepEqual(terms('system'), ['system']);
});

test('a pasted page is cut to its beginning and end', () => {
	const page = Array.from({ length: 5000 }, (_, i) => `word${i}x`).join(' ');
	const { counts } = analyseQuery(queryWords(page, [null]), counted({}));
	assert.equal(counts.size, 200);
	assert.ok(counts.has('word0x') && counts.has('word4999x'));
});

test('limits the cost of a page that repeats common words a hundred times', () => {
	const words = queryWords('the of and a '.repeat(2000), ['en']);
	const asked = analyseQuery(words, counted({ the: 6000, of: 5900, and: 5800, a: 5000 }, 6306));
	assert.ok(asked.terms.length <= 3, `${asked.terms.length} terms are asked for`);
	const rare = queryWords('descaling descaling descaling descaling descaling', ['en']);
	assert.equal(analyseQuery(rare, counted({ descal: 4 })).terms.length, 3, 'a repeated word still counts again');
});
