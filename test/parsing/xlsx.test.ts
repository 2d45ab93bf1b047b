import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
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

test('shows dates and numbers as the sheet does where their format is simple', async () => {
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
		['# ?/?', 0.5, '0.5'],
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
	const bomb = Buffer.from(
		zipSync({ 'xl/workbook.xml': strToU8('<a/>'), 'xl/worksheets/s0.xml': new Uint8Array(32 * 1024 * 1024) }),
	);
	await assert.rejects(parsed(bomb, 'a.xlsx'), { code: 'resource_limit', message: /spreadsheet unpacks/ });
});
