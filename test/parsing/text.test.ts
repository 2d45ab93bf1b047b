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
	['windows-1255', 'הקומקום מרתיח ליטר מים בשתי דקות. יש לנקות אותו פעם בחודש בחומצת לימון, ולשטוף היטב.'],
	[
		'windows-1257',
		'Garantija galioja dvejus metus nuo pirkimo dienos. Kreipkitės į mūsų dirbtuvę, jei virdulys nebešyla, ir pridėkite čekį.',
	],
	[
		'iso-8859-4',
		'Garantija ir derīga divus gadus no pirkuma dienas. Ja tējkanna vairs nesilda, sūtiet to uz mūsu darbnīcu kopā ar čeku.',
	],
	[
		'iso-8859-3',
		'Il-garanzija tkopri l-partijiet kollha għal sentejn. Ibgħat il-kitla lill-ħanut tagħna flimkien mal-irċevuta, jekk jogħġbok.',
	],
	['ibm866', 'Гарантия действует два года со дня покупки. Отправьте чайник в нашу мастерскую вместе с чеком.'],
	['x-mac-cyrillic', 'Гарантия действует два года со дня покупки. Отправьте чайник в нашу мастерскую вместе с чеком.'],
	[
		'macintosh',
		'Die Größe der Räume ändert sich für die Gäste am früheren Abend natürlich nicht, außer an Feiertagen.',
	],
	['shift_jis', '日本語の文字コードはいくつもあります。この文章はその一つで書かれています。'],
	['gb18030', '这是一篇用简体中文写成的文章，它用来检查程序能不能认出文字的编码。'],
];

for (const [label, text] of CHARSETS) {
	test(`reads text in ${label} without a declared charset`, async () => {
		assert.deepEqual(outlined((await parsed(encode(text, label), 'a.txt')).blocks), [`paragraph ${text}`]);
	});
}

/** Text in charsets that TextDecoder lacks, so the bytes are given. */
const LEGACY: Array<[label: string, hex: string, text: string]> = [
	[
		'ibm852',
		'5a61bea288862067a9986ca5206a61abe42e20437a616a6e696b20676f74756a65206c69747220776f647920772064776965206d696e7574792c20612067776172616e636a61206f62656a6d756a652077737a7973746b696520637aa99863692e',
		'Zażółć gęślą jaźń. Czajnik gotuje litr wody w dwie minuty, a gwarancja obejmuje wszystkie części.',
	],
	[
		'ibm855',
		'ada0e1a0d4e5b7de20a6a8bde3e5ebe7a8e520a6eba020acd6a6a020e3d620a6d4de20d8d6c6e7d8c6b72e20d7e5d8e1a0ebede5a820fba0bdd4b7c620eb20d4a0f5e720d2a0e3e5a8e1e3c6e79c20ebd2a8e3e5a820e320fba8c6d6d22e',
		'Гарантия действует два года со дня покупки. Отправьте чайник в нашу мастерскую вместе с чеком.',
	],
	[
		'ibm850',
		'44696520477294e16520646572205284756d6520846e6465727420736963682066817220646965204784737465206e617481726c696368206e696368742c206175e1657220616e204665696572746167656e2e',
		'Die Größe der Räume ändert sich für die Gäste natürlich nicht, außer an Feiertagen.',
	],
	[
		'x-mac-ce',
		'50de926c69e420ec6c75e96f758b6bf9206bf3cb209c709e6c20938762656c736b8e209764792e205a8772756b6120706c6174922064766120726f6b79206f646520646e65206e876b757075206b6f6e766963652e',
		'Příliš žluťoučký kůň úpěl ďábelské ódy. Záruka platí dva roky ode dne nákupu konvice.',
	],
	[
		'iso-2022-kr',
		'1b2429430e3a384175403a0f200e31384054404f374e3a4e454d0f20320e33620f200e353f3e480f200e402f483f4755344f34590f2e',
		'보증은 구입일로부터 2년 동안 유효합니다.',
	],
	[
		'windows-1258',
		'4261d26f2068e06e682063f3206769e120747269f220686169206ee36d206bead22074fdcc206e67e079206d75612e204861de792067fdd26920e2ec6d20f0756e206efdf5ec6320f0eaec6e2078fdf5d26e67206375d261206368fa6e672074f4692063f96e672076f5ec692068f36120f0f56e2e',
		'Bảo hành có giá trị hai năm kể từ ngày mua. Hãy gửi ấm đun nước đến xưởng của chúng tôi cùng với hóa đơn.',
	],
];

for (const [label, hex, text] of LEGACY) {
	test(`reads text in ${label}, declared or not`, async () => {
		const bytes = Buffer.from(hex, 'hex');
		assert.deepEqual(outlined((await parsed(bytes, 'a.txt')).blocks), [`paragraph ${text}`]);
		const declared = await parsed(bytes, 'a.txt', `text/plain; charset=${label}`);
		assert.deepEqual(outlined(declared.blocks), [`paragraph ${text}`]);
	});
}

test('reads UTF-32 in both byte orders, with and without a byte order mark', async () => {
	const text = 'Zażółć gęślą jaźń, two words 😀.';
	for (const mark of ['', '\ufeff']) {
		const codes = [...(mark + text)].map((character) => character.codePointAt(0) ?? 0);
		for (const write of ['writeUInt32LE', 'writeUInt32BE'] as const) {
			const bytes = Buffer.alloc(4 * codes.length);
			for (const [index, code] of codes.entries()) bytes[write](code, 4 * index);
			assert.deepEqual(outlined((await parsed(bytes, 'a.txt')).blocks), [`paragraph ${text}`]);
		}
	}
});

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
