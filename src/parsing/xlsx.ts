import { AppError } from '../base/index.ts';
import { type Block, type ExtractedDocument, languageOf, stripInvisible, toSingleLine } from './blocks.ts';
import { openPackage, type Parts } from './docx-archive.ts';
import { type Element, readXml } from './docx-xml.ts';
import { MAX_TEXT_BYTES, resourceLimit, TextBudget } from './limits.ts';
import { MAX_CELLS, sheetBlocks } from './sheet-blocks.ts';
import { type NumberFormat, numberFormatOf, plainNumber } from './xlsx-format.ts';

const KIND = 'spreadsheet';
/** The limits of Excel. */
const MAX_CELL_CHARACTERS = 32_767;
const MAX_COLUMNS = 16_384;
/** Cells that merged cells may fill. */
const MAX_MERGED_CELLS = 100_000;
/** Names that programs give, in some languages. */
const DEFAULT_NAME = /^(?:sheet|tabelle|feuil|hoja|foglio|blad|planilha|ark|лист)\s*\d*$/iu;

/**
 * Reads a spreadsheet (Office Open XML): each visible sheet under its name, as tables. Values are shown as in the sheet where
 * their format is simple. Formulas have the value that was calculated last.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseXlsx(bytes: Uint8Array): ExtractedDocument {
	const parts = openPackage(bytes, KIND);
	const book = readWorkbook(parts);
	const strings = readStrings(parts.get('xl/sharedstrings.xml'));
	const formats = readFormats(parts.get('xl/styles.xml'), book.is1904);
	const budget = new TextBudget();
	const blocks: Block[] = [];
	const meter = { cells: 0, characters: 0, merged: 0 };
	for (const { name, part } of book.sheets) {
		const bytes = parts.get(part);
		if (bytes === undefined) continue;
		const found = sheetBlocks(new SheetReader(strings, formats, meter).read(bytes), budget);
		const isNamed = book.sheets.length > 1 || !DEFAULT_NAME.test(name);
		if (found.length > 0 && isNamed && name !== '') blocks.push({ kind: 'heading', level: 1, text: name, page: null });
		for (const block of found) blocks.push(block);
	}
	const core = { title: '', language: '' };
	readTexts(parts.get('docprops/core.xml'), (name, text) => {
		if (name === 'dc:title') core.title += text;
		if (name === 'dc:language') core.language += text;
	});
	return {
		format: 'xlsx',
		title: toSingleLine(core.title) || null,
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
	const targets = new Map<string, string>();
	const relations = parts.get('xl/_rels/workbook.xml.rels');
	if (relations !== undefined) {
		readXml(
			relations,
			{
				...NOTHING,
				open: (element) => {
					const target = element.attribute('Target')?.toLowerCase() ?? '';
					targets.set(element.attribute('Id') ?? '', target.startsWith('/') ? target.slice(1) : `xl/${target}`);
				},
			},
			KIND,
		);
	}
	const book: Workbook = { is1904: false, sheets: [] };
	readXml(
		workbook,
		{
			...NOTHING,
			open: (element) => {
				if (element.name === 'workbookPr') book.is1904 = /^(?:1|true)$/.test(element.attribute('date1904') ?? '');
				if (element.name !== 'sheet' || /hidden/i.test(element.attribute('state') ?? '')) return;
				const part = targets.get(element.attribute('id') ?? '') ?? `xl/worksheets/sheet${book.sheets.length + 1}.xml`;
				book.sheets.push({ name: toSingleLine(element.attribute('name') ?? ''), part });
			},
		},
		KIND,
	);
	return book;
}

const NOTHING = { open: () => {}, close: () => {}, text: () => {} };

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
				if (name === 'si') strings.push(text.slice(0, MAX_CELL_CHARACTERS));
			},
			text: (value) => {
				if (inText) text += value;
			},
		},
		KIND,
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
		KIND,
	);
	return formats;
}

function readTexts(part: Uint8Array | undefined, onText: (element: string, text: string) => void): void {
	let inside = '';
	if (part === undefined) return;
	readXml(
		part,
		{ open: ({ name }) => (inside = name), close: () => (inside = ''), text: (text) => onText(inside, text) },
		KIND,
	);
}

/** What the sheets of a file have used of its limits. */
interface Meter {
	cells: number;
	characters: number;
	merged: number;
}

interface Cell {
	row: number;
	column: number;
	type: string;
	style: number;
	value: string;
}

class SheetReader {
	readonly #strings: string[];
	readonly #formats: NumberFormat[];
	readonly #meter: Meter;
	/** The texts by row and column, from 0. */
	readonly #rows = new Map<number, Map<number, string>>();
	#cell: Cell | null = null;
	#inValue = false;
	#row = -1;
	#column = -1;

	constructor(strings: string[], formats: NumberFormat[], meter: Meter) {
		this.#strings = strings;
		this.#formats = formats;
		this.#meter = meter;
	}

	/** The rows of a sheet from top to bottom, with the columns that have text. An empty row stands for any number of them. */
	read(part: Uint8Array): string[][] {
		readXml(part, this, KIND);
		const columns = [...new Set([...this.#rows.values()].flatMap((cells) => [...cells.keys()]))].sort((a, b) => a - b);
		const rows: string[][] = [];
		let last = -1;
		for (const [row, cells] of [...this.#rows].sort(([a], [b]) => a - b)) {
			if (cells.size === 0) continue;
			if (last !== -1 && row > last + 1) rows.push([]);
			const end = Math.max(...cells.keys());
			rows.push(columns.filter((column) => column <= end).map((column) => cells.get(column) ?? ''));
			last = row;
			// The filled cells were counted when they were set.
			this.#meter.cells += (rows.at(-1)?.length ?? 0) - cells.size;
			if (this.#meter.cells > MAX_CELLS) throw resourceLimit(TOO_MANY_CELLS);
		}
		return rows;
	}

	open(element: Element): void {
		const { name } = element;
		if (name === 'row') {
			const number = Number(element.attribute('r'));
			this.#row = Number.isInteger(number) && number > 0 ? number - 1 : this.#row + 1;
			this.#column = -1;
		} else if (name === 'c') {
			const place = placeOf(element.attribute('r') ?? '');
			this.#column = place?.column ?? this.#column + 1;
			this.#cell = {
				row: this.#row,
				column: this.#column,
				type: element.attribute('t') ?? 'n',
				style: Number(element.attribute('s') ?? 0),
				value: '',
			};
		} else if (name === 'mergeCell') this.#merge(element.attribute('ref') ?? '');
		this.#inValue = name === 'v' || name === 't';
	}

	close(name: string): void {
		this.#inValue = false;
		if (name !== 'c' || this.#cell === null) return;
		const text = this.#textOf(this.#cell);
		if (text !== '') this.#set(this.#cell.row, this.#cell.column, text);
		this.#cell = null;
	}

	text(value: string): void {
		if (!this.#inValue || this.#cell === null) return;
		this.#cell.value += value;
	}

	#set(row: number, column: number, text: string): void {
		this.#meter.characters += text.length;
		if (this.#meter.characters > MAX_TEXT_BYTES) {
			throw resourceLimit('The spreadsheet holds more than 10 MB of text. Split it into smaller files.');
		}
		if (++this.#meter.cells > MAX_CELLS || column >= MAX_COLUMNS) throw resourceLimit(TOO_MANY_CELLS);
		let cells = this.#rows.get(row);
		if (cells === undefined) {
			cells = new Map();
			this.#rows.set(row, cells);
		}
		cells.set(column, text);
	}

	#textOf({ type, value, style }: Cell): string {
		if (type === 's') return stripInvisible(this.#strings[Number(value)] ?? '').trim();
		if (type === 'str' || type === 'inlineStr') return stripInvisible(value.slice(0, MAX_CELL_CHARACTERS)).trim();
		if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
		if (type === 'd') return value.trim().replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
		// An error such as #REF! is no content.
		if (type === 'e' || value.trim() === '') return '';
		const number = Number(value);
		return Number.isFinite(number) ? (this.#formats[style] ?? plainNumber)(number) : '';
	}

	/** Repeats the text of a merged cell in each cell that it covers, up to the limit. */
	#merge(range: string): void {
		const [from, to] = range.split(':').map(placeOf);
		if (from == null || to == null) return;
		const text = this.#rows.get(from.row)?.get(from.column);
		// A title across the sheet stays one cell.
		const isTitle = from.row === to.row && this.#rows.get(from.row)?.size === 1;
		if (text === undefined || text.length > 200 || isTitle) return;
		for (let row = from.row; row <= to.row; row++) {
			for (let column = from.column; column <= to.column; column++) {
				if (++this.#meter.merged > MAX_MERGED_CELLS) return;
				if (this.#rows.get(row)?.has(column) !== true && this.#rows.has(row)) this.#set(row, column, text);
			}
		}
	}
}

const TOO_MANY_CELLS = `The spreadsheet has more than ${MAX_CELLS.toLocaleString('en')} cells. Split it into smaller files.`;

/** The row and column of a reference such as `B7`, from 0. */
function placeOf(reference: string): { row: number; column: number } | null {
	const match = /^([A-Z]{1,3})(\d{1,7})$/.exec(reference);
	if (match === null) return null;
	let column = 0;
	for (const letter of match[1] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
	return { row: Number(match[2]) - 1, column: column - 1 };
}
