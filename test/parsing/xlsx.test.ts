import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { chunkDocument, sniffFormat } from '../../src/parsing/index.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';
import { makeXlsx, xlsxRow } from '../fixtures/documents/xlsx.ts';

const rowsOf = (...rows: Array<Array<string | number | null>>) =>
	rows.map((cells, index) => xlsxRow(index + 1, cells)).join('');

test('reads each visible sheet as a table under its name', async () => {
	const sheets = [
		{ name: 'Prices', data: rowsOf(['Price list 2026'], [], ['Part', 'Price'], ['Lid', 5.5], ['Handle', null]) },
		{ name: 'Notes', data: rowsOf(['', 'Solo', 'Firm'], ['Users', 1, 9]) },
		{ name: 'Old', data: rowsOf(['Secret']), state: 'hidden' },
	];
	const { blocks, format } = await parsed(makeXlsx({ sheets }), 'a.xlsx');
	assert.equal(format, 'xlsx');
	assert.deepEqual(outlined(blocks), [
		'h1 Prices',
		'paragraph Price list 2026',
		'row Part | Price',
		'row Lid | 5.5',
		'row Handle',
		'h1 Notes',
		'row | Solo | Firm',
		'row Users | 1 | 9',
	]);
});

test('shows dates and numbers as the sheet does', async () => {
	const shown: Array<[format: string | number, value: number, text: string]> = [
		[0, 0.1 + 0.2, '0.3'],
		['0.00', 5.5, '5.50'],
		['#,##0.00 &quot;€&quot;', 1234.5, '1,234.50 €'],
		['[$$-409]#,##0.00', 19.9, '$19.90'],
		['0%', 0.19, '19%'],
		['#,##0;[Red]-#,##0', -1200, '-1,200'],
		[14, 46_349, '2026-11-23'],
		['dd.mm.yyyy', 46_349, '23.11.2026'],
		['d mmmm yyyy', 46_349, '23 November 2026'],
		['hh:mm', 0.375, '09:00'],
		['dd/mm/yy hh:mm', 46_349.75, '23/11/26 18:00'],
		['[h]:mm', 1.5, '36:00'],
		['# ?/?', 0.5, '1/2'],
		['0.0&quot;%&quot;', 19.5, '19.5%'],
		['#,##0,', 1_234_567, '1,235'],
		['00000', 1234, '01234'],
		['0.00', 1.005, '1.01'],
		['[mm]:ss', 0.0625, '90:00'],
		['0.0;(0.0);&quot;none&quot;', -2.5, '(2.5)'],
		['0.0;(0.0);&quot;none&quot;', 0, 'none'],
		['[&gt;=1000]0.0,&quot;k&quot;;0', 2500, '2.5k'],
		['yyyy&quot;年&quot;m&quot;月&quot;d&quot;日&quot;', 46_349, '2026年11月23日'],
		[31, 46_349, '2026-11-23'],
		[44, 1234.5, '1,234.50'],
		['[$-407]d. mmmm yyyy', 46_082, '1. März 2026'],
	];
	const cells = shown.map(
		([, value], at) =>
			`<row r="${at + 1}"><c r="A${at + 1}" s="${at}"><v>${value}</v></c><c r="B${at + 1}" t="inlineStr"><is><t>x</t></is></c></row>`,
	);
	const sheets = [{ name: 'Sheet1', data: cells.join('') }];
	const { blocks } = await parsed(makeXlsx({ sheets, formats: shown.map(([format]) => format) }), 'a.xlsx');
	assert.deepEqual(
		blocks.map(({ text }) => text),
		shown.map(([, , text]) => `${text} | x`),
	);
});

test('reads shared texts, truth values, formulas and merged cells, but no errors', async () => {
	const data =
		'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>' +
		'<row r="2"><c r="A2" t="s"><v>3</v></c><c r="B2" t="b"><v>1</v></c><c r="C2"><f>1+1</f><v>2</v></c></row>' +
		'<row r="3"><c r="B3" t="e"><v>#REF!</v></c><c r="C3" t="str"><f>x</f><v>three</v></c></row>';
	const sheets = [{ name: 'Sheet1', data, after: '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>' }];
	const strings =
		'<si><t>Room</t></si><si><r><t>Op</t></r><r><t>en</t></r></si><si><t>Beds</t><rPh><t>x</t></rPh></si><si><t>Red</t></si>';
	const { blocks } = await parsed(makeXlsx({ sheets, strings }), 'a.xlsx');
	assert.deepEqual(outlined(blocks), ['row Room | Open | Beds', 'row Red | TRUE | 2', 'row Red |  | three']);
});

test('each chunk of a long sheet begins with its header', async () => {
	const rows = Array.from({ length: 300 }, (_, index) => [`P-${index}`, `Part number ${index} of the machine`, index]);
	const { blocks } = await parsed(
		makeXlsx({ sheets: [{ name: 'Parts', data: rowsOf(['Part', 'Name', 'Price'], ...rows) }] }),
		'a.xlsx',
	);
	const chunks = chunkDocument({ title: null, language: 'en', blocks });
	assert.ok(chunks.length > 3);
	for (const { text, heading_path } of chunks) {
		assert.match(text, /^Part \| Name \| Price\nP-\d+ \| Part/);
		assert.deepEqual(heading_path, ['Parts']);
	}
});

test('the content shows that a file is a spreadsheet, and a broken one is named so', async () => {
	const whole = makeXlsx({ sheets: [{ name: 'A', data: rowsOf(['x']) }] });
	assert.equal(sniffFormat(whole, 'a.docx', null), 'xlsx');
	await assert.rejects(parsed(whole.subarray(0, whole.length - 60), 'a.xlsx'), { message: /spreadsheet is damaged/ });
	const bomb = Buffer.from(zipSync({ 'xl/workbook.xml': new Uint8Array(32 * 1024 * 1024) }));
	await assert.rejects(parsed(bomb, 'a.xlsx'), { code: 'resource_limit', message: /spreadsheet unpacks/ });
});

test('dates of the date system of 1904 are shown as such, times and durations as they are', async () => {
	const cell = (column: string, style: number, value: number) => `<c r="${column}1" s="${style}"><v>${value}</v></c>`;
	const data = `<row r="1">${cell('A', 0, 44_887)}${cell('B', 1, 1.5)}${cell('C', 2, 0.375)}</row>`;
	const file = makeXlsx({ sheets: [{ name: 'Sheet1', data }], formats: [14, '[h]:mm', 'h:mm'], is1904: true });
	assert.deepEqual(outlined((await parsed(file, 'a.xlsx')).blocks), ['row 2026-11-23 | 36:00 | 9:00']);
});

test('hidden rows and columns of a sheet are not read, and separate nothing', async () => {
	const rows = [
		xlsxRow(1, ['Part', 'Cost', 'Price']),
		xlsxRow(2, ['Lid', 1, 5]),
		xlsxRow(3, ['Gone', 2, 6]).replace('<row ', '<row hidden="1" '),
		xlsxRow(4, ['Cup', 'none', 'free']),
	];
	const before = '<cols><col min="2" max="2" hidden="true"/></cols>';
	const file = makeXlsx({ sheets: [{ name: 'Sheet1', data: rows.join(''), before }] });
	const { blocks } = await parsed(file, 'a.xlsx');
	assert.deepEqual(outlined(blocks), ['row Part | Price', 'row Lid | 5', 'row Cup | free']);
});

test('a title over two rows stays one text, and merged names are joined with the names below them', async () => {
	const data = rowsOf(['Prices'], [], ['', 'Ticket', null, 'Note'], ['', 'Adult', 'Child'], ['Day', 6, 3, 'a']);
	const after = `<mergeCells>${['A1:D2', 'B3:C3', 'D3:D4'].map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`;
	const { blocks } = await parsed(makeXlsx({ sheets: [{ name: 'Sheet1', data, after }] }), 'a.xlsx');
	assert.deepEqual(outlined(blocks), [
		'paragraph Prices',
		'row | Ticket Adult | Ticket Child | Note',
		'row Day | 6 | 3 | a',
	]);
});

test('a merged cell across the table names the rows after it, also if it is the only one or the table has two columns', async () => {
	const sheetOf = (ref: string, ...rows: Array<Array<string | number | null>>) => {
		const after = `<mergeCells><mergeCell ref="${ref}"/></mergeCells>`;
		return makeXlsx({ sheets: [{ name: 'Sheet1', data: rowsOf(...rows), after }] });
	};
	const wide = sheetOf('A3:C3', ['Part', 'Price', 'Note'], ['Lid', 5, 'a'], ['Cups'], ['Small', 3, 'b']);
	assert.deepEqual(outlined((await parsed(wide, 'a.xlsx')).blocks), [
		'row Part | Price | Note',
		'row Lid | 5 | a',
		'paragraph Cups',
		'row Part | Price | Note',
		'row Small | 3 | b',
	]);
	const narrow = sheetOf('A3:B3', ['Part', 'Price'], ['Lid', 5], ['Cups'], ['Small', 3]);
	assert.deepEqual(outlined((await parsed(narrow, 'a.xlsx')).blocks), [
		'row Part | Price',
		'row Lid | 5',
		'paragraph Cups',
		'row Part | Price',
		'row Small | 3',
	]);
});

test('the pronunciation of a text in a cell is no part of it', async () => {
	const data =
		'<row r="1"><c r="A1" t="inlineStr"><is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c>' +
		'<c r="B1" t="inlineStr"><is><t>x</t></is></c></row>';
	const { blocks } = await parsed(makeXlsx({ sheets: [{ name: 'Sheet1', data }] }), 'a.xlsx');
	assert.deepEqual(outlined(blocks), ['row 東京 | x']);
});

test('rows that a filter or a closed group hides are read, and a shared text without number is empty', async () => {
	const hidden = (row: string, more = '') => row.replace('<row ', `<row hidden="1"${more} `);
	const rows = [
		xlsxRow(1, ['Part', 'Price']),
		hidden(xlsxRow(2, ['Lid', 5])),
		xlsxRow(3, ['Cup', 6]).replace('</row>', '<c r="C3" t="s"/></row>'),
		hidden(xlsxRow(4, ['Bowl', 7]), ' outlineLevel="1"'),
		hidden(xlsxRow(5, ['Gone', 8])),
	].join('');
	const linesOf = async (after: string) => {
		const file = makeXlsx({ sheets: [{ name: 'Sheet1', data: rows, after }], strings: ['First'] });
		return outlined((await parsed(file, 'a.xlsx')).blocks);
	};
	const [head, cup, bowl] = ['row Part | Price', 'row Cup | 6', 'row Bowl | 7'];
	const filter = '<autoFilter ref="A1:B3"><filterColumn colId="0"/></autoFilter>';
	assert.deepEqual(await linesOf(filter), [head, 'row Lid | 5', cup, bowl]);
	assert.deepEqual(await linesOf('<autoFilter ref="A1:B3"/>'), [head, cup, bowl]);
});
