import type { Block, BodyBlock } from './blocks.ts';

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
export const MAX_SPANNED_COLUMNS = 200;
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

/** The columns that a cell spans, within the limit. */
export function spannedColumns(columns: number): number {
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
export function labelOf(cells: readonly TableCell[]): string | null {
	const [only] = cells;
	if (only === undefined || cells.length > 1 || only.text === '') return null;
	return only.columns > 1 || only.isHeading ? only.text : null;
}
