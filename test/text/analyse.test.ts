import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { analyse, queryTerms } from '../../src/text/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';

test('words with one stem become one term, by Porter2 in English', () => {
	assert.deepEqual(analyse('Connected connections are connecting', 'en'), ['connect', 'connect', 'are', 'connect']);
	// Porter's first algorithm would stem it to `gener`, as it does `general`.
	assert.deepEqual(analyse('generously', 'en'), ['generous']);
});

test('each language has its own stemmer, and an unknown language none', () => {
	assert.deepEqual(analyse('Häuser', 'de'), analyse('Haus', 'de'));
	assert.deepEqual(analyse('книгами', 'ru'), analyse('книга', 'ru'));
	assert.deepEqual(analyse('refunds', null), ['refunds']);
	assert.deepEqual(analyse('refunds', 'xx'), ['refunds']);
});

test('optional marks and alternative spellings make no difference', () => {
	assert.deepEqual(analyse('CAFÉ ﬁne naïve', null), analyse('cafe fine naive', null));
	assert.deepEqual(analyse('Straße', 'de'), analyse('strasse', 'de'));
	assert.deepEqual(analyse('e\u0301cole', 'fr'), analyse('école', 'fr'));
	assert.deepEqual(analyse('كِتَابٌ', null), analyse('كتاب', null));
	assert.deepEqual(analyse('İstanbul', null), ['istanbul']);
});

test('keeps marks that are letters or vowels', () => {
	assert.deepEqual(analyse('мой', null), ['мой']);
	assert.deepEqual(analyse('हिन्दी', null), ['हिन्दी']);
	assert.notDeepEqual(analyse('か', null), analyse('が', null));
});

test('segments scripts without spaces into words', () => {
	assert.ok(analyse('商品を返品するにはどうすればいいですか', 'ja').includes('商品'));
	assert.ok(analyse('商品可以在购买后退货', 'zh').includes('购买'));
	assert.ok(analyse('โปรดติดต่อฝ่ายบริการลูกค้า', 'th').length > 2);
});

test('removes the stop words of a question but keeps interrogatives', () => {
	assert.deepEqual(queryTerms('What can I do with my refund?', 'en'), ['what', 'can', 'refund']);
	assert.deepEqual(queryTerms('Wie kann ich das zurückgeben?', 'de'), ['wie', 'kann', 'zuruckgeb']);
	assert.deepEqual(queryTerms('the of and', 'en'), []);
});

test('keeps repeated words', () => {
	assert.deepEqual(queryTerms('refund refund', 'en'), ['refund', 'refund']);
});

test('every term is exactly one token of the full-text index, whatever the text', () => {
	const db = new Database(':memory:');
	db.exec("CREATE VIRTUAL TABLE t USING fts5(terms, content='', tokenize='ascii')");
	db.exec("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'row')");
	const insert = db.prepare('INSERT INTO t (rowid, terms) VALUES (?, ?)');
	const all = db.prepare('SELECT term FROM v').pluck();
	const seen = new Set<string>();
	let row = 0;
	const check = (text: string, language: string | null) => {
		const terms = analyse(text, language);
		for (const term of terms) seen.add(term);
		insert.run(++row, terms.join(' '));
	};
	for (const text of ['हिन्दी कि‍ताब', "rock'n'roll C++ 3.5 x_y", 'ﷺ ½ Ⅷ ㎏', '가나다 한국어를', 'a\u0000b', '\ud800x'])
		check(text, null);
	fc.assert(
		fc.property(
			fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })),
			fc.constantFrom(null, 'en', 'de', 'fr', 'ru', 'ar', 'ta', 'tr'),
			(text, language) => check(text, language),
		),
		{ numRuns: 400, seed: 7 },
	);
	assert.deepEqual((all.all() as string[]).sort(), [...seen].sort());
	db.close();
});

test('analyses hostile texts in bounded processor time', async () => {
	for (const text of [
		'ก'.repeat(100_000),
		'日本語の商品'.repeat(20_000),
		'a\u0301'.repeat(100_000),
		'x'.repeat(1_000_000),
	]) {
		const spent = await cpuMilliseconds(() => {
			assert.ok(analyse(text, 'en').every((term) => term.length <= 64));
		});
		assert.ok(spent < 3000, `${text.slice(0, 4)}… took ${spent} ms`);
	}
});
