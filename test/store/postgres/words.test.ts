import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { separateCharacters } from '../../../src/base/index.ts';
import { wordsOf } from '../../../src/store/postgres/inbox/words.ts';

/** The words that the index of the embedded store has of texts. */
function wordsOfSqlite(texts: readonly string[]): string[][] {
	const db = new Database(':memory:');
	db.exec(`CREATE VIRTUAL TABLE texts USING fts5(text, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'");
		CREATE VIRTUAL TABLE words USING fts5vocab('texts', 'instance')`);
	const insert = db.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)');
	db.transaction(() => {
		for (const [at, text] of texts.entries()) insert.run(at + 1, separateCharacters(text));
	})();
	const found = texts.map((): string[] => []);
	for (const { term, doc } of db.prepare('SELECT term, doc FROM words ORDER BY doc, offset').all() as Array<{
		term: string | null;
		doc: number;
	}>) {
		found[doc - 1]?.push(term ?? '');
	}
	db.close();
	return found;
}

/** All letters, digits and marks up to the end of the plane of historic scripts and symbols. */
const CHARACTERS = Array.from({ length: 0x1ffff }, (_, code) => String.fromCodePoint(code)).filter((character) =>
	/[\p{L}\p{N}\p{M}]/u.test(character),
);
/** The tables of SQLite have no such letters in pairs of cases: it leaves them as they are. */
const NEWER = /[\p{Script=Cherokee}\p{Script=Georgian}\p{Script=Osage}\p{Script=Adlam}\p{Script=Vithkuqi}]/u;

test('every letter, digit and mark is part of a word, which is folded as in the index of the embedded store', () => {
	const texts = CHARACTERS.map((character) => `a${character}b`);
	const expected = wordsOfSqlite(texts);
	const differing = CHARACTERS.filter((character, at) => {
		const isUnfolded = expected[at]?.join(' ') === `a${character}b`;
		return !isUnfolded && wordsOf(`a${character}b`).join(' ') !== expected[at]?.join(' ');
	});
	assert.deepEqual(differing, ['Ǡ'], 'SQLite has no entry for this one');
	const unfolded = CHARACTERS.filter(
		(character, at) =>
			!NEWER.test(character) && expected[at]?.join(' ') === `a${character}b` && wordsOf(character)[0] !== character,
	);
	assert.ok(unfolded.length < 300, `${unfolded.length} letters are folded that the embedded store leaves as they are`);
	assert.ok(unfolded.every((character) => character > '\u0370' || character === 'ǡ'));
});

test('words of texts are those of the index of the embedded store', () => {
	const texts = [
		'The KETTLE’s price: 12.50 € (incl. VAT)!',
		'Straße, ÉCOLE, e\u0301cole, Łódź, Ǆ, İstanbul, ısı, ſo',
		'ΣΊΣΥΦΟΣ Σίσυφος ῼ ἀρχή',
		'Ёлка и ёлка, йод',
		'返品の期限 は2024年、ハングル 한국어를',
		'การจัดส่ง ສະບາຍດີ កម្ពុជា မြန်မာ',
		'हिन्दी में \u0301 standing alone',
		'tab\tnew\nline\u00a0space _under_ a-b/c\\d "q" \'r\'',
		'１２３ ⅫⅣ ² ½ 𝐛𝐨𝐥𝐝 𐐀𐐨 \ue000',
		'',
	];
	assert.deepEqual(texts.map(wordsOf), wordsOfSqlite(texts));
});

test('letters and emoji that are newer than the tables of SQLite are as in Unicode', () => {
	assert.deepEqual(wordsOf('ᎠᏣ Ა🤔b'), ['ꭰꮳ', 'ა', 'b']);
});
