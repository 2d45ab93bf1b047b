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

test('a table of a PDF keeps its rows and columns, also where cells have several lines', async () => {
	const cell = (text: string, x: number, y: number) => ({ text, x, y, size: 10 });
	const pages = [
		[
			...bodyLines(['The display shows a code when something is wrong with the device.']),
			...[cell('Code', 50, 660), cell('Meaning', 80, 660), cell('What to do', 220, 660)],
			...[
				cell('E1', 50, 640),
				cell('There is too little', 80, 640),
				cell('water.', 80, 628),
				cell('Fill it.', 220, 640),
			],
			...[
				cell('E2', 50, 608),
				cell('Too hot.', 80, 608),
				cell('Wait for an hour,', 220, 608),
				cell('then try again.', 220, 596),
			],
			...[cell('E3', 50, 576), cell('Lid open.', 80, 576), cell('Close it.', 220, 576)],
			...bodyLines(['After that the device works again, if none of these happened to be the cause.'], 540),
		],
	];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.deepEqual(outlined(blocks).slice(1, -1), [
		'row Code | Meaning | What to do',
		'row E1 | There is too little water. | Fill it.',
		'row E2 | Too hot. | Wait for an hour, then try again.',
		'row E3 | Lid open. | Close it.',
	]);
	assert.deepEqual(blocks[1]?.kind === 'row' && blocks[1].table, { header: true });
});

test('properties of a PDF are rows, and the text after them is not', async () => {
	const properties = [
		['Model', 'HB-170'],
		['Power', '2,200 watts'],
		['Length of the cable', '0.9 metres'],
	];
	const lines = properties.flatMap(([name = '', value = ''], index) => [
		{ text: name, x: 50, y: 700 - index * 14, size: 10 },
		{ text: value, x: 220, y: 700 - index * 14, size: 10 },
	]);
	const pages = [[...lines, ...bodyLines(['Read this.'], 630)]];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.deepEqual(outlined(blocks), [
		'row Model | HB-170',
		'row Power | 2,200 watts',
		'row Length of the cable | 0.9 metres',
		'paragraph Read this.',
	]);
});

test('a numbered step stays apart from a full line before it', async () => {
	const pages = [
		bodyLines([
			'1. Fill the kettle with water.',
			'2. Stir in 30 grams of citric acid. Do not use vinegar: it harms the lid.',
			'3. Heat it to 60 degrees.',
		]),
	];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.deepEqual(
		blocks.map(({ kind, text }) => [kind, text.slice(0, 7)]),
		[
			['item', '1. Fill'],
			['item', '2. Stir'],
			['item', '3. Heat'],
		],
	);
});

test('a row of a PDF with an empty first cell stays a row', async () => {
	const cell = (text: string, x: number, y: number) => ({ text, x, y, size: 10 });
	const rows = [
		['Plan', 'Users', 'Price'],
		['Basic', '1', '5'],
		['', '2', '9'],
		['', 'any', 'ask'],
		['Firm', '40', '90'],
	];
	const lines = rows.flatMap((cells, row) =>
		cells.flatMap((text, column) => (text === '' ? [] : [cell(text, 50 + 120 * column, 700 - 12 * row)])),
	);
	const { blocks } = await parsed(makePdf({ pages: [lines] }), 'a.pdf');
	assert.deepEqual(outlined(blocks), [
		'row Plan | Users | Price',
		'row Basic | 1 | 5',
		'row | 2 | 9',
		'row | any | ask',
		'row Firm | 40 | 90',
	]);
});

test('bullets and numbers beside texts are no column of a table', async () => {
	const items = ['Fill the kettle.', 'Heat it to sixty degrees.', 'Pour the water out.', 'Rinse it twice.'];
	for (const mark of [() => '-', (index: number) => `${index + 1}.`]) {
		const lines = items.flatMap((text, index) => [
			{ text: mark(index), x: 50, y: 700 - 14 * index, size: 10 },
			{ text, x: 70, y: 700 - 14 * index, size: 10 },
		]);
		const { blocks } = await parsed(makePdf({ pages: [lines] }), 'a.pdf');
		assert.deepEqual(
			outlined(blocks),
			items.map((text, index) => `item ${mark(index)} ${text}`),
		);
	}
});

const BODY = 'Text of normal size and weight goes on for a while here, so that it is most of the text.';

test('bold lines that stand alone are headings, bold rows of tables and bold words are not', async () => {
	const bold = (text: string, y: number, x = 50) => ({ text, y, x, bold: true });
	const pages = [
		[
			bold('Opening hours', 700),
			...bodyLines([BODY, BODY], 685),
			bold('Part', 640),
			bold('Price', 640, 200),
			...bodyLines(['Lid', 'Cup'], 625),
			{ text: '4.50', x: 200, y: 625 },
			{ text: '6.20', x: 200, y: 613 },
			bold('Note:', 580),
			{ text: BODY, x: 90, y: 580 },
			bold('Returns', 550),
			...bodyLines([BODY, BODY], 535),
		],
	];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	const headings = blocks.filter(({ kind }) => kind === 'heading').map(({ text }) => text);
	assert.deepEqual(headings, ['Opening hours', 'Returns']);
});

test('a PDF with a large drawing is read without the weights of its fonts', async () => {
	const heading = 'BT /F2 10 Tf 1 0 0 1 50 700 Tm (Opening hours) Tj ET';
	const text = `${heading} BT /F1 10 Tf 1 0 0 1 50 685 Tm (${BODY}) Tj ET BT /F1 10 Tf 1 0 0 1 50 673 Tm (${BODY}) Tj ET\n`;
	const kinds = async (drawing: string) => {
		const bytes = [deflateSync(Buffer.from(text + drawing), { level: 0 })];
		const { blocks } = await parsed(makePdf({ pages: [], streams: { filter: '/FlateDecode', bytes } }), 'a.pdf');
		return blocks.map(({ kind }) => kind);
	};
	assert.deepEqual(await kinds(' '.repeat(1_000_000)), ['heading', 'paragraph']);
	assert.ok(!(await kinds(' '.repeat(4_200_000))).includes('heading'));
});

test('heads of pages that name the present section are left out', async () => {
	const names = ['Cups', 'Lids', 'Bowls', 'Plates'];
	const pages = names.map((name, index) => [
		{ text: index === 2 ? '§§ 12.3 to 12.5' : name, y: 770 },
		{ text: name, y: 700, size: 16 },
		...bodyLines([BODY, `${name} come in blue. ${BODY}`], 680),
	]);
	const texts = (await parsed(makePdf({ pages }), 'a.pdf')).blocks.map(({ text }) => text);
	assert.deepEqual(
		texts.filter((text) => text.length < 20),
		names,
	);
	const titles = names.map((_, index) => [
		{ text: `About ${names[(index + 1) % 4]}`, y: 770 },
		...bodyLines([BODY, BODY], 680),
	]);
	const kept = (await parsed(makePdf({ pages: titles }), 'a.pdf')).blocks.map(({ text }) => text);
	assert.equal(kept.filter((text) => text.startsWith('About')).length, 4, 'what stands nowhere else is kept');
});

test('leaders of dots go: in a table of contents with the page number, in a list of prices without the value', async () => {
	const dots = ' . . . . . . . . . . . . ';
	const pages = [
		[
			...bodyLines([`Safety${dots}2`, `Cleaning${dots}3`, `Warranty${dots}14`], 700),
			...bodyLines([BODY, BODY], 640),
			...bodyLines([`Tea${dots}2.50`, `Coffee${dots}3.10`], 580),
		],
	];
	const { blocks } = await parsed(makePdf({ pages }), 'a.pdf');
	assert.equal(blocks[0]?.text, 'Safety\nCleaning\nWarranty');
	assert.deepEqual(
		blocks.slice(-2).map(({ kind, text }) => `${kind} ${text}`),
		['row Tea | 2.50', 'row Coffee | 3.10'],
	);
});

test('the values of a form stand beside their labels', async () => {
	const labels = bodyLines(['Name of the buyer:', 'Express delivery', 'Total'], 700);
	const fields = [
		{ name: 'buyer', value: 'Anna Smith', rect: [150, 697, 300, 711] as [number, number, number, number] },
		{ name: 'express', value: true as const, rect: [36, 686, 46, 696] as [number, number, number, number] },
		{ name: 'Remarks', value: 'Ring twice', rect: [150, 300, 300, 311] as [number, number, number, number] },
	];
	const { blocks } = await parsed(makePdf({ pages: [labels], fields }), 'a.pdf');
	const text = blocks.map((block) => block.text).join('\n');
	assert.match(text, /^Name of the buyer: Anna Smith\n☒ Express delivery\nTotal\nRemarks: Ring twice$/);
});
