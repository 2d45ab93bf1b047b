import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '../fixtures/documents/charsets.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

test('splits plain text into paragraphs and list items, joins wrapped lines and keeps short ones', async () => {
	const text = `A first line that is long enough to have been wrapped by an editor,
and its end.

Main Street 5
12345 Town

To bring:
- tent
- lamp with
  batteries
`;
	assert.deepEqual(outlined((await parsed(text, 'a.txt')).blocks), [
		'paragraph A first line that is long enough to have been wrapped by an editor, and its end.',
		'paragraph Main Street 5\n12345 Town',
		'paragraph To bring:',
		'item - tent',
		'item - lamp with\nbatteries',
	]);
});

const CHARSETS: Array<[label: string, text: string]> = [
	[
		'windows-1252',
		'Die Größe der Räume ändert sich für die Gäste am früheren Abend natürlich nicht, außer an Feiertagen.',
	],
	['windows-1250', 'Zażółć gęślą jaźń. Księżniczka litewska, królowa Polski, czwarta żona Władysława Jagiełły.'],
	['koi8-r', 'Кодировка широко применяется как основная русская кодировка в системах и в электронной почте.'],
	['windows-1251', 'Кодировка является стандартной для русских версий системы и пользовалась большой популярностью.'],
	['shift_jis', '日本語の文字コードはいくつもあります。この文章はその一つで書かれています。'],
	['gb18030', '这是一篇用简体中文写成的文章，它用来检查程序能不能认出文字的编码。'],
];

for (const [label, text] of CHARSETS) {
	test(`reads text in ${label} without a declared charset`, async () => {
		assert.deepEqual(outlined((await parsed(encode(text, label), 'a.txt')).blocks), [`paragraph ${text}`]);
	});
}

test('reads UTF-16 in both byte orders, with and without a byte order mark, and UTF-8 with a mark', async () => {
	for (const text of [
		'Plain words, two of them.',
		'日本語の文章です。\n改行もあります。',
		'Обычный текст, 2 строки.',
	]) {
		const little = Buffer.from(text, 'utf16le');
		const big = Buffer.from(little).swap16();
		const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
		for (const bytes of [little, big, marked, Buffer.from(marked).swap16(), Buffer.from(`\ufeff${text}`)]) {
			assert.deepEqual(outlined((await parsed(bytes, 'a.txt')).blocks), [`paragraph ${text}`]);
		}
	}
});

test('leaves out stray zero bytes, which change no charset', async () => {
	const russian = CHARSETS.find(([label]) => label === 'koi8-r')?.[1] ?? '';
	for (const [bytes, text] of [
		[Buffer.from('abc\0def text'), 'abcdef text'],
		[Buffer.from('\0The kettle is blue.'), 'The kettle is blue.'],
		[Buffer.from('schöne Grüße\0 aus Köln'), 'schöne Grüße aus Köln'],
		[Buffer.from('日本語の文\0章です。'), '日本語の文章です。'],
		[
			Buffer.from('Die Größe der Räume ändert sich\0 für die Gäste nicht.', 'latin1'),
			'Die Größe der Räume ändert sich für die Gäste nicht.',
		],
		[Buffer.concat([encode(russian, 'koi8-r'), Buffer.from([0, 0])]), russian],
	] as const) {
		assert.deepEqual(outlined((await parsed(bytes, 'a.txt')).blocks), [`paragraph ${text}`]);
	}
});

test('uses a declared charset unless the bytes are clearly UTF-8', async () => {
	const greek = encode('Ένα κείμενο', 'iso-8859-7');
	const declared = await parsed(greek, 'a.txt', 'text/plain; charset=iso-8859-7');
	assert.deepEqual(outlined(declared.blocks), ['paragraph Ένα κείμενο']);
	const wrong = await parsed('schöne Grüße', 'a.txt', 'text/plain; charset=iso-8859-1');
	assert.deepEqual(outlined(wrong.blocks), ['paragraph schöne Grüße']);
});

test('an empty text file is read as empty', async () => {
	assert.deepEqual((await parsed('', 'a.txt')).blocks, []);
	assert.deepEqual((await parsed(' \r\n\t\r\n', 'a.txt')).blocks, []);
});

test('a file of more than 10 MB of text is refused', async () => {
	await assert.rejects(parsed('word '.repeat(2_200_000), 'a.txt'), { code: 'resource_limit', message: /10 MB/ });
});

test('Markdown gives headings, lists, tables, code and quotes without its marks', async () => {
	const text = `---
title: "House rules"
tags: [a, b]
---
# Rules & *more*

Be **kind** &amp; [quiet](https://example.com "t"),
please.  
Thanks.

Prices
------

3. \`three &lt;\`
4. four
   - nested

| Plan | Price |
|------|------:|
| Basic | <b>5</b> |

\`\`\`js
let x = 1;
\`\`\`

> Said.

<div>Raw <i>markup</i></div>
`;
	const { title, blocks } = await parsed(text, 'a.md');
	assert.equal(title, 'House rules');
	assert.deepEqual(outlined(blocks), [
		'h1 Rules & more',
		'paragraph Be kind & quiet, please.\nThanks.',
		'h2 Prices',
		'item 3. three &lt;',
		'item 4. four',
		'item - nested',
		'row Plan | Price',
		'row Basic | 5',
		'code let x = 1;',
		'quote Said.',
		'paragraph Raw markup',
	]);
});

test('a Markdown table keeps the columns of empty cells and the bars in cells', async () => {
	const text = '| | Solo | Firm |\n|---|---|---|\n| Users | 1 | |\n| Pipe \\| bar | | 9 |\n';
	assert.deepEqual(outlined((await parsed(text, 'a.md')).blocks), [
		'row | Solo | Firm',
		'row Users | 1 |',
		'row Pipe \\| bar |  | 9',
	]);
});

test('a horizontal rule at the beginning of Markdown does not turn the text into front matter', async () => {
	const { blocks } = await parsed('---\nNot front matter.\n\n---\n\n# Head\n', 'a.md');
	assert.ok(outlined(blocks).some((line) => line.includes('Not front matter.')));
	assert.equal((await parsed('---\ntitle: Spec\n...\n\n# Head\n\n---\n', 'a.md')).title, 'Spec');
	assert.equal((await parsed('# Head\n\nText', 'a.md')).title, 'Head');
});

test('reads Markdown with extreme nesting as text', { timeout: 120_000 }, async () => {
	for (const text of [`${'>'.repeat(50_000)} deep`, `${'- '.repeat(20_000)}deep`, `${'['.repeat(20_000)}deep`]) {
		const { blocks } = await parsed(text, 'a.md');
		assert.match(blocks.map((block) => block.text).join(' '), /deep/);
	}
	const steps = Array.from({ length: 2000 }, (_, index) => `${' '.repeat(index * 2)}- step ${index}`).join('\n');
	assert.match(outlined((await parsed(steps, 'a.md')).blocks).join(' '), /step 1999/);
});
