import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';
import { bodyLines, makePdf } from '../fixtures/documents/pdf.ts';

test('wrapped lines of a PDF become paragraphs, and divided words are whole again', async () => {
	const pages = [
		bodyLines([
			'The warranty of this device covers every defect in material and in workman-',
			'ship that shows within twenty-four months after the day of purchase in a shop.',
			'Keep the receipt.',
		]),
	];
	const { blocks, page_count } = await parsed(makePdf({ pages }), 'warranty.pdf');
	assert.equal(page_count, 1);
	assert.deepEqual(outlined(blocks), [
		'paragraph The warranty of this device covers every defect in material and in workmanship that shows within ' +
			'twenty-four months after the day of purchase in a shop. Keep the receipt.',
	]);
});

test('a word that the document writes with a hyphen keeps it at the end of a line', async () => {
	const pages = [
		bodyLines([
			'Only well-known brands are sold here, and of those only the ones that are well-',
			'known to last for many years in the hands of our most demanding customers.',
		]),
	];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.match(blocks[0]?.text ?? '', /ones that are well-known to last/);
});

test('a gap between lines of a PDF separates paragraphs', async () => {
	const pages = [[...bodyLines(['First thought.']), ...bodyLines(['Second thought.'], 660)]];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.deepEqual(outlined(blocks), ['paragraph First thought.', 'paragraph Second thought.']);
});

test('larger type makes headings, and each block has its page', async () => {
	const body = ['Text of normal size goes on for a while here.', 'And it has a second line of about the same length.'];
	const page = (heading: string) => [{ text: heading, y: 730, size: 18 }, ...bodyLines([...body, ...body])];
	const { blocks, title } = await parsed(
		makePdf({ pages: [page('Delivery times'), page('Returning goods')] }),
		'a.pdf',
	);
	const headings = blocks.filter((block) => block.kind === 'heading');
	assert.deepEqual(
		headings.map(({ text, page }) => [text, page]),
		[
			['Delivery times', 1],
			['Returning goods', 2],
		],
	);
	assert.equal(title, 'Delivery times');
});

test('the outline of a PDF names its headings, whatever their size', async () => {
	const pages = [bodyLines(['1 Opening hours', 'We open at nine.']), bodyLines(['2 Prices', 'All is free.'])];
	const outline = [
		{ title: 'Opening hours', page: 1 },
		{ title: 'Prices', page: 2 },
	];
	const { blocks } = await parsed(makePdf({ pages, outline }), 'a.pdf');
	assert.deepEqual(outlined(blocks), [
		'h1 1 Opening hours',
		'paragraph We open at nine.',
		'h1 2 Prices',
		'paragraph All is free.',
	]);
});

test('running heads and page numbers are left out, the text between them is not', async () => {
	const words = ['alpha', 'beta', 'gamma', 'delta'];
	const pages = words.map((word, index) => [
		{ text: 'Handbook of the house', y: 780 },
		...bodyLines([`The word of this page is ${word}.`]),
		{ text: `Page ${index + 1}`, y: 20 },
	]);
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.deepEqual(
		blocks.map((block) => block.text),
		words.map((word) => `The word of this page is ${word}.`),
	);
});

test('uses the title in the file unless a program generated it', async () => {
	const pages = [bodyLines(['Some text.'])];
	assert.equal((await parsed(makePdf({ pages, title: 'House rules' }), 'a.pdf')).title, 'House rules');
	assert.equal((await parsed(makePdf({ pages, title: 'Microsoft Word - rules.doc' }), 'a.pdf')).title, null);
});

test('a PDF without text, like a scan, is read as empty', async () => {
	const { blocks, page_count } = await parsed(makePdf({ pages: [[], []] }), 'scan.pdf');
	assert.deepEqual(blocks, []);
	assert.equal(page_count, 2);
});

test('rejects a PDF with a password with that reason', async () => {
	const file = makePdf({ pages: [bodyLines(['Secret.'])], password: true });
	await assert.rejects(parsed(file, 'a.pdf'), { code: 'unreadable_file', message: /password/ });
});

test('rejects a truncated PDF and a file that is not a PDF as damaged', async () => {
	const whole = makePdf({ pages: [bodyLines(['Text.'])] });
	await assert.rejects(parsed(whole.subarray(0, 40), 'a.pdf'), { code: 'unreadable_file', message: /damaged/ });
	await assert.rejects(parsed('just words', 'a.pdf'), { code: 'unreadable_file', message: /no PDF/ });
});

test('a PDF of more than 2,000 pages is refused', async () => {
	const pages = Array.from({ length: 2001 }, () => []);
	await assert.rejects(parsed(makePdf({ pages }), 'a.pdf'), { code: 'resource_limit', message: /2001 pages/ });
});

test('rejects a PDF that inflates to gigabytes, also if it is compressed twice', async () => {
	const once = deflateSync(Buffer.alloc(260 * 1024 * 1024, 32), { level: 1 });
	const bomb = makePdf({ pages: [], streams: { filter: '/FlateDecode', bytes: [once] } });
	const twice = makePdf({ pages: [], streams: { filter: '[/FlateDecode /FlateDecode]', bytes: [deflateSync(once)] } });
	await assert.rejects(parsed(bomb, 'a.pdf'), { code: 'resource_limit', message: /unpacks/ });
	await assert.rejects(parsed(twice, 'a.pdf'), { code: 'resource_limit', message: /unpacks/ });
});

test('a stream whose compressed data is broken does not stop the other pages from being read', async () => {
	const good = deflateSync(Buffer.from('BT /F1 10 Tf 50 700 Td (Still here) Tj ET'));
	const bad = Buffer.concat([Buffer.from([0x78, 0x9c]), Buffer.alloc(200, 0xff)]);
	for (const filter of ['/FlateDecode', '[/FlateDecode /FlateDecode]']) {
		const bytes = filter.startsWith('[') ? [deflateSync(good), bad] : [good, bad];
		const { blocks } = await parsed(makePdf({ pages: [], streams: { filter, bytes } }), 'a.pdf');
		assert.deepEqual(outlined(blocks), ['paragraph Still here']);
	}
});
