import { type Block, type BodyBlock, toSingleLine } from './blocks.ts';

/** A cell as its document has it. */
export interface TableCell {
	/** Its text on one line. */
	text: string;
	/** The columns and rows that it spans, at least 1. */
	columns: number;
	rows: number;
	/** The document marks it as a heading of its row or column. */
	isHeading: boolean;
}

/** A row as its document has it. Cells that a span of an earlier row covers are left out. */
export interface TableRow {
	cells: TableCell[];
	/** It names the columns. Only rows before the first row of data do. */
	isHeader: boolean;
	/** It is the first of its group of rows: spans of rows before it end there. */
	startsGroup?: boolean;
}

/** Spans beyond this column are ignored. */
const MAX_SPANNED_COLUMNS = 200;
/** Longer texts stand only in the first of the cells that they span. */
const MAX_REPEATED_CHARACTERS = 200;
/** How much text of spans and header rows a table may repeat, and how many cells spans may fill: a multiple of its own. */
const MAX_REPETITION = 4;
const REPETITION_CHARACTERS = 400;
const REPETITION_CELLS = 2000;

/**
 * The blocks of a table. Each row has a cell for each column, so that a value stands under its column's name:
 *
 * - The text of a spanning cell is repeated in each cell that it spans.
 * - Several header rows become one, column by column.
 * - A row with one cell across the table names the group of rows after it. It becomes a paragraph, and the header is repeated
 *   after it.
 *
 * @param caption the text that names the table and stands before it; null without one
 */
export function tableBlocks(rows: Iterable<TableRow>, caption: string | null, page: number | null): Block[] {
	return new TableWriter([...rows], caption, page).write();
}

/** More rows of headings are data. */
const MAX_HEADER_ROWS = 4;

/** A row with its spans resolved. */
interface GridRow {
	cells: string[];
	/** The text of its only cell, if that one spans the table. */
	label: string | null;
	isHeader: boolean;
}

class TableWriter {
	readonly #rows: TableRow[];
	readonly #page: number | null;
	readonly #blocks: Block[] = [];
	readonly #width: number;
	/** The characters that may still be repeated, and the cells that spans may still fill. */
	#allowance = REPETITION_CHARACTERS;
	#cellAllowance = REPETITION_CELLS;
	#caption: string | null;
	#header: string | null = null;
	/** Whether the next row is the first of a part of the table. */
	#isStart = true;

	constructor(rows: TableRow[], caption: string | null, page: number | null) {
		this.#rows = rows;
		this.#caption = caption;
		this.#page = page;
		let width = 0;
		for (const { cells } of rows) {
			let columns = 0;
			for (const { text, columns: spanned } of cells) {
				columns += spannedColumns(spanned);
				this.#allowance += MAX_REPETITION * (text.length + 2);
				this.#cellAllowance += MAX_REPETITION;
			}
			width = Math.max(width, columns);
		}
		this.#width = width;
	}

	write(): Block[] {
		if (this.#caption !== null) this.#push({ kind: 'paragraph', text: this.#caption, page: this.#page });
		const grid = withoutEmptyColumns(this.#resolveSpans());
		let headers: string[][] = [];
		for (const row of grid) {
			if (row.label !== null) {
				if (headers.length > 0) this.#startHeader(headers);
				headers = [];
				this.#startGroup(row.label);
			} else if (row.isHeader && headers.length < MAX_HEADER_ROWS) headers.push(row.cells);
			else {
				if (headers.length > 0) this.#startHeader(headers);
				headers = [];
				this.#addRow(row.cells);
			}
		}
		if (headers.length > 0) {
			this.#startHeader(headers);
			this.#writeHeader();
		}
		return this.#blocks;
	}

	/** The rows with the text of spanning cells in each cell that they span. Rows without text of their own are left out. */
	#resolveSpans(): GridRow[] {
		const grid: GridRow[] = [];
		/** Per column, the text that spans into the next rows, and the number of those rows. */
		let spans: Array<{ text: string; rows: number } | undefined> = [];
		for (const [index, { cells, isHeader, startsGroup }] of this.#rows.entries()) {
			if (startsGroup) spans = [];
			const resolved: string[] = [];
			const below: typeof spans = [];
			const fillFromAbove = () => {
				for (let span = spans[resolved.length]; span !== undefined; span = spans[resolved.length]) {
					if (resolved.length >= MAX_SPANNED_COLUMNS || this.#cellAllowance <= 0) return;
					if (span.rows > 1) below[resolved.length] = { text: span.text, rows: span.rows - 1 };
					resolved.push(this.#repeat(span.text));
				}
			};
			for (const cell of cells) {
				fillFromAbove();
				for (let column = 0; column < spannedColumns(cell.columns); column++) {
					if (column > 0 && (resolved.length >= MAX_SPANNED_COLUMNS || this.#cellAllowance <= 0)) break;
					if (cell.rows > 1 && index < this.#rows.length - 1)
						below[resolved.length] = { text: cell.text, rows: cell.rows - 1 };
					resolved.push(column === 0 ? cell.text : this.#repeat(cell.text));
				}
			}
			fillFromAbove();
			const label = spans.length === 0 && this.#width > 1 ? labelOf(cells) : null;
			spans = below;
			if (cells.some(({ text }) => text !== '')) grid.push({ cells: resolved, label, isHeader });
		}
		return grid;
	}

	/** The text for a further cell: empty if it is long, or once the table has repeated too much. */
	#repeat(text: string): string {
		this.#cellAllowance--;
		if (text.length > MAX_REPEATED_CHARACTERS) return '';
		this.#allowance -= text.length + 1;
		return this.#allowance < 0 ? '' : text;
	}

	#startGroup(label: string): void {
		this.#push({ kind: 'paragraph', text: label, page: this.#page });
		this.#caption = label;
		this.#isStart = true;
	}

	#startHeader(headers: string[][]): void {
		this.#header = rowText(joinHeaders(headers));
		this.#isStart = true;
	}

	#addRow(cells: string[]): void {
		const isFirst = this.#isStart;
		if (isFirst && this.#header !== null) this.#writeHeader();
		const start = isFirst && this.#header === null ? { table: this.#tableStart(false) } : {};
		this.#push({ kind: 'row', text: rowText(cells), page: this.#page, ...start });
		this.#isStart = false;
	}

	#writeHeader(): void {
		const header = this.#header ?? '';
		this.#push({ kind: 'row', text: header, page: this.#page, table: this.#tableStart(true) });
		// Enough for the groups of an ordinary table. The rows after that have no header.
		this.#allowance -= header.length;
		if (this.#allowance < header.length) this.#header = null;
	}

	#tableStart(header: boolean): NonNullable<BodyBlock['table']> {
		return this.#caption === null ? { header } : { header, caption: this.#caption };
	}

	#push(block: BodyBlock): void {
		this.#blocks.push(block);
	}
}

function spannedColumns(columns: number): number {
	return Math.min(Math.max(columns, 1), MAX_SPANNED_COLUMNS);
}

/** Layouts use empty columns as space. */
function withoutEmptyColumns(grid: GridRow[]): GridRow[] {
	const filled = new Set<number>();
	for (const { cells, label } of grid) {
		if (label === null) for (const [column, text] of cells.entries()) if (text !== '') filled.add(column);
	}
	return grid.map((row) => ({ ...row, cells: row.cells.filter((_, column) => filled.has(column)) }));
}

/** The cells of a row as text. A bar in a cell is escaped, as in Markdown. */
export function rowText(cells: readonly string[]): string {
	return cells
		.map((cell) => (cell.includes('|') ? cell.replaceAll('|', '\\|') : cell))
		.join(' | ')
		.trim();
}

/** Header rows as one: `Price` above `monthly` and `yearly` is `Price monthly` and `Price yearly`. */
export function joinHeaders(headers: readonly string[][]): string[] {
	const names: string[] = [];
	for (let column = 0; column < Math.max(...headers.map((cells) => cells.length)); column++) {
		const parts = headers.map((cells) => cells[column] ?? '').filter((part) => part !== '');
		names.push(parts.filter((part, index) => part !== parts[index - 1]).join(' '));
	}
	return names;
}

/** The text of a row's only cell, if that one names the rows after it; null if the row has data. */
function labelOf(cells: readonly TableCell[]): string | null {
	const [only] = cells;
	if (only === undefined || cells.length > 1 || only.text === '') return null;
	return only.columns > 1 || only.isHeading ? only.text : null;
}

/** The rows from which it is decided whether the first one names the columns. */
const HEADER_SAMPLE_ROWS = 50;

/**
 * Marks the header rows of a table: its first row if `isHeader` says so of its rows and no row is marked, and the row after a header with a
 * name over several columns if it divides only those. Rows that name the table or a group of rows are passed over.
 */
export function markHeaders(rows: readonly TableRow[], isHeader: (rows: readonly string[][]) => boolean): void {
	const sample: TableRow[] = [];
	for (const row of rows) {
		if (sample.length === HEADER_SAMPLE_ROWS) break;
		if (labelOf(row.cells) === null && row.cells.some(({ text }) => text !== '')) sample.push(row);
	}
	const [first, second, third] = sample;
	if (first === undefined) return;
	if (!rows.some((row) => row.isHeader)) first.isHeader = isHeader(sample.map(columnsOf));
	if (first.isHeader && second !== undefined && third !== undefined && !second.isHeader)
		second.isHeader = dividesNames(first, second);
}

/** The texts of a row, with that of a spanning cell in each of its columns. */
function columnsOf({ cells }: TableRow): string[] {
	const texts: string[] = [];
	for (const { text, columns } of cells) {
		const end = Math.min(texts.length + spannedColumns(columns), MAX_SPANNED_COLUMNS);
		while (texts.length < end) texts.push(text);
	}
	return texts;
}

/** Whether a row has texts without digits under those names of a header that stand over several columns, and none elsewhere. */
function dividesNames(header: TableRow, row: TableRow): boolean {
	const isDivided: boolean[] = [];
	for (const { columns, rows } of header.cells) {
		// It also stands in the next row.
		if (rows > 1) continue;
		for (let column = 0; column < spannedColumns(columns); column++) isDivided.push(columns > 1);
	}
	let divided = 0;
	let column = 0;
	for (const { text, columns } of row.cells) {
		if (text !== '' && isDivided[column] !== true) return false;
		if (/\p{Nd}/u.test(text) || text.length > MAX_NAME_CHARACTERS) return false;
		if (text !== '') divided++;
		column += columns;
	}
	return divided > 1;
}

/** A longer text is no name of a column. */
const MAX_NAME_CHARACTERS = 60;

/**
 * Whether a first row without any mark names the columns: its first cell is empty and the one below it is not, and its other cells
 * are short texts.
 */
export function looksLikeHeader([first, second]: readonly string[][]): boolean {
	if (first === undefined || second === undefined || first.length < 2) return false;
	const [corner = '', ...names] = first.map(toSingleLine);
	if (names.some((name) => name === '' || name.length > MAX_NAME_CHARACTERS)) return false;
	return corner === '' && second[0] !== undefined && second[0] !== '';
}

/** Whether a cell is an amount, a number, a date, or an address of mail or of a page. */
export function isValue(cell: string): boolean {
	return CONTACT.test(cell) || (/\p{Nd}/u.test(cell) && !/\p{L}{2}/u.test(cell));
}

const CONTACT = /\S@\S|^(?:https?:\/\/|www\.)/i;

/** Whether a cell may name a column or a group of rows: it is no value, but a year may be one. */
export function isName(cell: string): boolean {
	return !isValue(cell) || /^(?:19|20)\d\d$/.test(cell);
}

/** Whether a table without marks lists one thing, a name and a value in each row: some values are addresses, and others are not. */
export function looksLikePairs(rows: readonly string[][]): boolean {
	const values: string[] = [];
	for (const row of rows.slice(0, HEADER_SAMPLE_ROWS)) {
		if (row.length > 2) return false;
		if (row[1]) values.push(row[1]);
	}
	// The first one may be the name of a column of addresses.
	const contacts = values.slice(1).filter((value) => CONTACT.test(value)).length;
	return CONTACT.test(values[0] ?? '') || (contacts > 0 && contacts < values.length - 1);
}

/**
 * Whether the rows after the first one show that it names the columns: a column has a name without digits, and all its values
 * have digits. Telephone numbers are no evidence, because they also stand in lists of pairs.
 */
export function hasColumnOfValues(rows: readonly string[][]): boolean {
	const [names = [], ...others] = rows;
	return names.some((name, column) => {
		const values = others.flatMap((row) => row[column] || []);
		const isColumn = values.length > 0 && values.every((value) => /\p{Nd}/u.test(value) && !TELEPHONE.test(value));
		return column > 0 && isColumn && !/\p{Nd}/u.test(name);
	});
}

const TELEPHONE = /^[+(]?\d(?:[\s()/-]*\d){5,}$/;
