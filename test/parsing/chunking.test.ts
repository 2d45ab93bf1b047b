import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Block, type BodyBlock, chunkDocument } from '../../src/parsing/index.ts';
import { analyse } from '../../src/text/index.ts';

const heading = (level: number, text: string, page: number | null = null): Block => ({
	kind: 'heading',
	level,
	text,
	page,
});
const body = (text: string, kind: BodyBlock['kind'] = 'paragraph', page: number | null = null): BodyBlock => ({
	kind,
	text,
	page,
});

/** Distinct sentences of twelve words each. */
function prose(count: number, word = 'word'): string {
	const sentence = (index: number) => `Sentence ${word}${index} tells the reader one more thing about the old house.`;
	return Array.from({ length: count }, (_, index) => sentence(index)).join(' ');
}

const chunked = (blocks: Block[], title: string | null = null, language: string | null = 'en') =>
	chunkDocument({ title, language, blocks });
const wordsOf = (text: string) => text.split(/\s+/).length;

test('a long section becomes chunks of about 200 to 300 words that end with a sentence', () => {
	const chunks = chunked([heading(1, 'House'), body(prose(100))]);
	assert.ok(chunks.length >= 4 && chunks.length <= 6);
	for (const chunk of chunks) {
		assert.ok(wordsOf(chunk.text) >= 190 && wordsOf(chunk.text) <= 340, String(wordsOf(chunk.text)));
		assert.match(chunk.text, /^Sentence .*house\.$/s);
		assert.deepEqual(chunk.heading_path, ['House']);
	}
});

test('each chunk of a section repeats the last sentence or two of the previous one, and nothing is lost', () => {
	const text = prose(100);
	const chunks = chunked([body(text)]);
	for (const [index, chunk] of chunks.entries()) {
		const before = chunks[index - 1];
		if (before === undefined) continue;
		const first = chunk.text.split(/(?<=\.) /)[0] as string;
		const overlap = before.text.slice(before.text.lastIndexOf(first));
		assert.ok(before.text.includes(first), 'the first sentence stands in the chunk before');
		assert.ok(wordsOf(overlap) <= 40);
	}
	for (const sentence of text.split(/(?<=\.) /)) assert.ok(chunks.some((chunk) => chunk.text.includes(sentence)));
});

test('no chunk crosses a heading or repeats text from before it', () => {
	const chunks = chunked([heading(1, 'A'), body(prose(30, 'a')), heading(1, 'B'), body(prose(30, 'b'))]);
	for (const chunk of chunks) {
		assert.equal(/\bSentence a\d/.test(chunk.text), chunk.heading_path[0] === 'A');
		assert.equal(/\bSentence b\d/.test(chunk.text), chunk.heading_path[0] === 'B');
	}
});

test('a chunk has the headings above it, outermost first, and its first page', () => {
	const chunks = chunked([
		heading(1, 'Guide', 1),
		heading(2, 'Setup', 1),
		body(prose(4), 'paragraph', 2),
		heading(3, 'Linux', 3),
		body(prose(4), 'paragraph', 3),
		heading(2, 'Use', 4),
		body(prose(4), 'paragraph', 4),
	]);
	assert.deepEqual(
		chunks.map(({ heading_path, page }) => [heading_path.join(' > '), page]),
		[
			['Guide > Setup', 2],
			['Guide > Setup > Linux', 3],
			['Guide > Use', 4],
		],
	);
});

test('joins tiny neighbouring sections under their common heading, with their own headings as lines', () => {
	const chunks = chunked([
		heading(1, 'Glossary'),
		heading(2, 'Ant'),
		body('An insect.'),
		heading(2, 'Bee'),
		body('Another insect.'),
		heading(1, 'Story'),
		body(prose(10)),
	]);
	assert.deepEqual(
		chunks.map((chunk) => chunk.heading_path),
		[['Glossary'], ['Story']],
	);
	assert.equal(chunks[0]?.text, 'Ant\n\nAn insect.\n\nBee\n\nAnother insect.');
});

test('questions with answers of a few sentences each keep a separate chunk', () => {
	const chunks = chunked([heading(2, 'Who?'), body(prose(3)), heading(2, 'When?'), body(prose(3))]);
	assert.deepEqual(
		chunks.map((chunk) => chunk.heading_path),
		[['Who?'], ['When?']],
	);
});

test('a heading without content is still found', () => {
	const chunks = chunked([heading(1, 'Contact'), heading(2, 'Call 555 0199'), heading(1, 'Rest'), body(prose(4))]);
	assert.deepEqual(
		chunks.map(({ heading_path, text }) => [heading_path.join(' > '), text.slice(0, 13)]),
		[
			['Contact', 'Call 555 0199'],
			['Rest', 'Sentence word'],
		],
	);
});

test('cuts a long table between rows and begins every part with its header row', () => {
	const rows = Array.from({ length: 120 }, (_, index) =>
		body(`Item ${index} | costs ${index} euros | in stock`, 'row'),
	);
	const header: BodyBlock = { ...body('Name | Price | State', 'row'), table: { header: true } };
	const chunks = chunked([header, ...rows]);
	assert.ok(chunks.length > 2);
	for (const chunk of chunks) {
		assert.match(chunk.text, /^Name \| Price \| State\nItem \d+ \|/);
		assert.equal(chunk.text.match(/Name \| Price/g)?.length, 1);
	}
	const all = chunks.flatMap((chunk) => chunk.text.split('\n').slice(1));
	assert.deepEqual(
		all,
		rows.map((row) => row.text),
	);
});

test('each part of a long table begins with its caption and header', () => {
	const rows = Array.from({ length: 120 }, (_, index) => body(`Item ${index} | costs ${index} euros`, 'row'));
	const header: BodyBlock = { ...body('| Price', 'row'), table: { header: true, caption: 'Spare parts' } };
	const chunks = chunked([body('Spare parts'), header, ...rows]);
	assert.ok(chunks.length > 2);
	for (const chunk of chunks) assert.match(chunk.text, /^Spare parts\n\n\| Price\nItem \d+ \|/);
});

test('a caption, a header row, a question and a lead-in stay with what follows them', () => {
	const header: BodyBlock = { ...body('Name | Price', 'row'), table: { header: true, caption: 'Spare parts' } };
	const introductions: Block[][] = [
		[body('Spare parts'), header, body('Lid | 5', 'row')],
		[body('Who pays the postage?'), body('You do.')],
		[body('You need:'), body('- a cup', 'item')],
	];
	for (const blocks of introductions) {
		for (let count = 15; count < 30; count++) {
			const texts = chunked([body(prose(count)), ...blocks, body(prose(20, 'after'))]).map(({ text }) => text);
			const [first, last] = [blocks[0], blocks.at(-1)];
			const holder = texts.filter((text) => text.includes(first?.text ?? ''));
			assert.equal(holder.length, 1);
			assert.ok(holder[0]?.includes(last?.text ?? ''), holder[0]);
		}
	}
});

test('code keeps its lines and indentation', () => {
	const code = 'if (x) {\n\ty();\n}';
	assert.equal(chunked([body('See:'), body(code, 'code')])[0]?.text, `See:\n\n${code}`);
	const long = Array.from({ length: 200 }, (_, index) => `\tcall(${index}, of, many, words);`).join('\n');
	const chunks = chunked([body(long, 'code')]);
	assert.ok(chunks.length > 1);
	assert.deepEqual(
		chunks.flatMap((chunk) => chunk.text.split('\n')),
		long.split('\n'),
	);
});

test('text without spaces and sentences without end are cut into chunks of bounded size', () => {
	const japanese = '今日は天気がいいので、公園まで歩いて行きました。'.repeat(200);
	const thai = 'วันนี้อากาศดีมากเราจึงเดินไปที่สวนสาธารณะ'.repeat(200);
	const endless = `${'word '.repeat(3000)}end`;
	const solid = 'x'.repeat(30_000);
	for (const text of [japanese, thai, endless, solid]) {
		const chunks = chunked([body(text)], null, null);
		assert.ok(chunks.length > 1);
		for (const chunk of chunks) assert.ok(chunk.text.length <= 4500, String(chunk.text.length));
		const letters = (value: string) => value.replace(/\s/g, '').length;
		assert.ok(chunks.reduce((sum, chunk) => sum + letters(chunk.text), 0) >= letters(text));
	}
});

test('terms come from the title and headings, and from the text', () => {
	const [chunk] = chunked([heading(1, 'Opening hours'), body('The museum opens at ten.')], 'City Museum');
	assert.equal(chunk?.title_terms, analyse('City Museum\nOpening hours', 'en').join(' '));
	assert.equal(chunk?.body_terms, analyse('The museum opens at ten.', 'en').join(' '));
	const [same] = chunked([heading(1, 'City Museum'), body('Open.')], 'City Museum');
	assert.equal(same?.title_terms, analyse('City Museum', 'en').join(' '));
});

test('a document without text has no chunks', () => {
	assert.deepEqual(chunked([]), []);
	assert.deepEqual(chunked([], 'Title'), []);
});
