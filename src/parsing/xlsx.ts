import { AppError } from '../base/index.ts';
import { type Block, type ExtractedDocument, languageOf, toSingleLine } from './blocks.ts';
import { TextBudget } from './limits.ts';
import { type OfficeKind, openPackage, propertiesOf, relationshipsOf } from './ooxml-package.ts';
import { sheetBlocks } from './sheet-blocks.ts';
import { SheetUsage } from './sheet-grid.ts';
import { DEFAULT_SHEET_NAME } from './sheet-names.ts';
import { type NumberFormat, numberFormatOf } from './xlsx-format.ts';
import { cellText, isTrue, SheetReader } from './xlsx-sheet.ts';
import { readXml } from './xml-reader.ts';
import type { Parts } from './zip-archive.ts';

const KIND: OfficeKind = {
	name: 'spreadsheet',
	oldFormat: 'Old Excel files (.xls) cannot be read. Save the file as .xlsx or CSV.',
};

/**
 * Reads a spreadsheet (Office Open XML): each visible sheet under its name, as tables, without hidden rows and columns.
 * Values are shown as in the sheet. Formulas have the value that was calculated last.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseXlsx(bytes: Uint8Array): ExtractedDocument {
	const parts = openPackage(bytes, KIND);
	const book = readWorkbook(parts);
	const strings = readStrings(parts.get('xl/sharedstrings.xml'));
	const formats = readFormats(parts.get('xl/styles.xml'), book.is1904);
	const shared = { strings, formats, usage: new SheetUsage() };
	const budget = new TextBudget();
	const blocks: Block[] = [];
	const seen = new Set<string>();
	for (const { name, part } of book.sheets) {
		const bytes = parts.get(part);
		// Several sheets of one part are a mistake or an attack.
		if (bytes === undefined || seen.has(part)) continue;
		seen.add(part);
		const tables = relationshipsOf(parts, part, KIND).flatMap(({ type, target }) => {
			const table = type === 'table' && !seen.has(target) ? parts.get(target) : undefined;
			seen.add(target);
			return table ?? [];
		});
		const found = sheetBlocks(new SheetReader(shared).read(bytes, tables), budget);
		const isNamed = book.sheets.length > 1 || !DEFAULT_SHEET_NAME.test(name);
		if (found.length > 0 && isNamed && name !== '') blocks.push({ kind: 'heading', level: 1, text: name, page: null });
		for (const block of found) blocks.push(block);
	}
	const core = propertiesOf(parts.get('docprops/core.xml'), KIND.name);
	return {
		format: 'xlsx',
		title: core.title || null,
		declared_language: languageOf(core.language),
		page_count: null,
		blocks,
	};
}

interface Workbook {
	is1904: boolean;
	sheets: Array<{ name: string; part: string }>;
}

function readWorkbook(parts: Parts): Workbook {
	const workbook = parts.get('xl/workbook.xml');
	if (workbook === undefined) throw new AppError('unsupported_file_type');
	const relationships = relationshipsOf(parts, 'xl/workbook.xml', KIND);
	const targets = new Map(relationships.map(({ id, target }) => [id, target]));
	const book: Workbook = { is1904: false, sheets: [] };
	let count = 0;
	readXml(
		workbook,
		{
			open: (element) => {
				if (element.name === 'workbookPr') book.is1904 = isTrue(element.attribute('date1904'));
				if (element.name !== 'sheet') return;
				count++;
				if (/hidden/i.test(element.attribute('state') ?? '')) return;
				const part = targets.get(element.attribute('r:id') ?? '') ?? `xl/worksheets/sheet${count}.xml`;
				book.sheets.push({ name: toSingleLine(element.attribute('name') ?? ''), part });
			},
			close: () => {},
			text: () => {},
		},
		KIND.name,
	);
	return book;
}

/** The texts that cells share, without the pronunciation of Japanese ones. */
function readStrings(part: Uint8Array | undefined): string[] {
	const strings: string[] = [];
	let text = '';
	let inPhonetic = false;
	let inText = false;
	if (part === undefined) return strings;
	readXml(
		part,
		{
			open: ({ name }) => {
				if (name === 'si') text = '';
				if (name === 'rPh') inPhonetic = true;
				inText = name === 't' && !inPhonetic;
			},
			close: (name) => {
				inText = false;
				if (name === 'rPh') inPhonetic = false;
				if (name === 'si') strings.push(cellText(text));
			},
			text: (value) => {
				if (inText) text += value;
			},
		},
		KIND.name,
	);
	return strings;
}

/** The format of each style. */
function readFormats(part: Uint8Array | undefined, is1904: boolean): NumberFormat[] {
	const codes = new Map<number, string>();
	const formats: NumberFormat[] = [];
	const known = new Map<number, NumberFormat>();
	let inCells = false;
	if (part === undefined) return formats;
	readXml(
		part,
		{
			open: (element) => {
				const id = Number(element.attribute('numFmtId'));
				if (element.name === 'numFmt') codes.set(id, (element.attribute('formatCode') ?? '').slice(0, 255));
				if (element.name === 'cellXfs') inCells = true;
				if (element.name !== 'xf' || !inCells) return;
				const format = known.get(id) ?? numberFormatOf(id, codes.get(id), is1904);
				known.set(id, format);
				formats.push(format);
			},
			close: (name) => {
				if (name === 'cellXfs') inCells = false;
			},
			text: () => {},
		},
		KIND.name,
	);
	return formats;
}
