import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkDocument, sniffFormat } from '../../src/parsing/index.ts';
import { encode } from '../fixtures/documents/charsets.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

test('reads a table with any delimiter, with a header', async () => {
	for (const delimiter of [',', ';', '\t', '|']) {
		const text = ['Part,Name,Price', 'L1,Lid,5', 'H2,"Handle, long",'].join('\n').replaceAll(/,(?! )/g, delimiter);
		const { blocks, format } = await parsed(text, delimiter === '\t' ? 'a.tsv' : 'a.csv');
		assert.equal(format, 'csv');
		assert.deepEqual(outlined(blocks), ['row Part | Name | Price', 'row L1 | Lid | 5', 'row H2 | Handle, long']);
		assert.deepEqual(blocks[0]?.kind === 'row' && blocks[0].table, { header: true });
	}
});

test('decimal commas do not divide values where semicolons do', async () => {
	const { blocks } = await parsed('Name;Price\nLid;5,50\nHandle;7,20\n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row Name | Price', 'row Lid | 5,50', 'row Handle | 7,20']);
});

test('reads quoted line breaks, doubled quotes, the delimiter that Excel names, and Windows line ends', async () => {
	const { blocks } = await parsed('sep=;\r\nName;Note\r\n"Lid";"fits ""old""\r\nand new"\r\n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row Name | Note', 'row Lid | fits "old" and new']);
});

test('detects the charset of a table', async () => {
	const text = 'Artikel;Größe\nTür;übergroß, für Fußgänger\nMöbel;größer';
	for (const bytes of [
		encode(text, 'windows-1252'),
		Buffer.from(`\ufeff${text}`),
		Buffer.from(`\ufeff${text}`, 'utf16le'),
	])
		assert.equal(outlined((await parsed(bytes, 'a.csv')).blocks)[0], 'row Artikel | Größe');
});

test('a table of numbers has no header, and an empty corner is one', async () => {
	const [numbers] = (await parsed('1,2\n3,4', 'a.csv')).blocks;
	assert.deepEqual(numbers?.kind === 'row' && numbers.table, { header: false });
	const [corner] = (await parsed(',2025,2026\nUsers,3,4', 'a.csv')).blocks;
	assert.deepEqual(corner?.kind === 'row' && [corner.text, corner.table], ['| 2025 | 2026', { header: true }]);
});

test('a title above a table is its caption, and a blank row divides tables', async () => {
	const { blocks } = await parsed('Price list\n\nName,Price\nLid,5\n\nCity,Days\nOslo,3\n', 'a.csv');
	assert.deepEqual(outlined(blocks), [
		'paragraph Price list',
		'row Name | Price',
		'row Lid | 5',
		'row City | Days',
		'row Oslo | 3',
	]);
	assert.deepEqual(
		blocks.flatMap((block) => (block.kind === 'row' && block.table !== undefined ? [block.table] : [])),
		[{ header: true, caption: 'Price list' }, { header: true }],
	);
});

test('each chunk of a long table begins with its header', async () => {
	const rows = Array.from({ length: 300 }, (_, index) => `P-${index},Part number ${index} of the machine,${index}.50`);
	const { blocks } = await parsed(['Part,Name,Price', ...rows].join('\n'), 'a.csv');
	const chunks = chunkDocument({ title: 'Parts', language: 'en', blocks });
	assert.ok(chunks.length > 3);
	for (const { text } of chunks) assert.match(text, /^Part \| Name \| Price\nP-\d+ \| Part/);
});

test('name or type decide that a text is a table', () => {
	const text = Buffer.from('a,b\n1,2');
	assert.equal(sniffFormat(text, 'a.csv', null), 'csv');
	assert.equal(sniffFormat(text, 'a.tsv', 'text/plain'), 'csv');
	assert.equal(sniffFormat(text, null, 'text/csv; charset=utf-8'), 'csv');
	assert.equal(sniffFormat(text, 'a.csv', 'application/vnd.ms-excel'), 'csv');
	assert.equal(sniffFormat(text, 'a.txt', 'text/plain'), 'txt');
});

test('prefers the delimiter that is rare in texts and numbers where several fit', async () => {
	for (const delimiter of ['\t', ';', '|']) {
		const text = [`Lid${delimiter}5,50`, `Handle${delimiter}7,20`].join('\n');
		assert.deepEqual(outlined((await parsed(text, 'a.csv')).blocks), ['row Lid | 5,50', 'row Handle | 7,20']);
	}
});

test('a space before or after quotes is not part of the value', async () => {
	const { blocks } = await parsed('Name, Note\nLid, "red, round"\nCup, "white" \n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row Name | Note', 'row Lid | red, round', 'row Cup | white']);
});

test('a quote that is not closed ends with its line', async () => {
	const rows = Array.from({ length: 2000 }, (_, index) => `P${index},"7"" wide",${index}`);
	rows[1000] = 'P1000,"5 wide,1000';
	const lines = outlined((await parsed(['Part,Size,Price', ...rows].join('\n'), 'a.csv')).blocks);
	assert.equal(lines.length, 2001);
	assert.deepEqual(lines.slice(1000, 1003), [
		'row P999 | 7" wide | 999',
		'row P1000 | "5 wide | 1000',
		'row P1001 | 7" wide | 1001',
	]);
});

test('quotes within a value are text', async () => {
	const { blocks } = await parsed('Part,Size\nLid,5" wide\nBowl,"big" one\n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row Part | Size', 'row Lid | 5" wide', 'row Bowl | "big" one']);
});

test('a text row after a blank line stays in its table', async () => {
	const { blocks } = await parsed('Item,Price\nLid,5\n\nHandle,on request\n\nCup,none\n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row Item | Price', 'row Lid | 5', 'row Handle | on request', 'row Cup | none']);
	assert.deepEqual(
		blocks.map((block) => block.kind === 'row' && block.table),
		[{ header: true }, undefined, undefined, undefined],
	);
});

test('blank lines after every line separate nothing', async () => {
	const text = 'Item,Price\r\r\nLid,5\r\r\nHandle,on request\r\r\nCup\r\r\nBowl,7\r\r\n';
	const { blocks } = await parsed(text, 'a.csv');
	assert.deepEqual(outlined(blocks), [
		'row Item | Price',
		'row Lid | 5',
		'row Handle | on request',
		'row Cup',
		'row Bowl | 7',
	]);
});

test('a second row of names divides names that stand over several columns', async () => {
	const { blocks } = await parsed(',Ticket,Ticket,Note\n,Adult,Child,\nDay,6,3,weekdays\n', 'a.csv');
	assert.deepEqual(outlined(blocks), ['row | Ticket Adult | Ticket Child | Note', 'row Day | 6 | 3 | weekdays']);
	const texts = (await parsed('Room,Has,Has\nRed,Desk,Lamp\nBlue,Chair,Shelf\n', 'a.csv')).blocks;
	assert.deepEqual(outlined(texts)[0], 'row Room | Has | Has');
});

test('an item without values does not name the items after it, and names of groups do', async () => {
	const lamp = (await parsed('Item,Price,Stock\nTable,90,2\nLamp,,\nChair,20,3\n', 'a.csv')).blocks;
	assert.deepEqual(outlined(lamp).slice(2), ['row Lamp', 'row Chair | 20 | 3']);
	const first = (await parsed('Item,Price,Stock\nLamp,,\nChair,20,3\n', 'a.csv')).blocks;
	assert.deepEqual(outlined(first).slice(1), ['row Lamp', 'row Chair | 20 | 3']);
	const groups = (await parsed('Item,Price,Stock\nLight,,\nLamp,9,1\nSeats,,\nChair,20,3\n', 'a.csv')).blocks;
	assert.deepEqual(outlined(groups), [
		'paragraph Light',
		'row Item | Price | Stock',
		'row Lamp | 9 | 1',
		'paragraph Seats',
		'row Item | Price | Stock',
		'row Chair | 20 | 3',
	]);
});

test('a list of pairs has no header', async () => {
	for (const text of ['E-mail,a@b.example\nPage,Team', 'Name,Ann\nPhone,0800 555 55\nE-mail,a@b.example']) {
		const [first] = (await parsed(text, 'a.csv')).blocks;
		assert.deepEqual(first?.kind === 'row' && first.table, { header: false }, text);
	}
	const [people] = (await parsed('Name,E-mail\nAnn,a@b.example\nBo,b@b.example', 'a.csv')).blocks;
	assert.deepEqual(people?.kind === 'row' && people.table, { header: true });
});
