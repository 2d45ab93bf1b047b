import type { Block } from './blocks.ts';
import { type TableCell, type TableRow, tableBlocks } from './table-blocks.ts';
import { hasColumnOfValues, isName, looksLikeHeader, looksLikePairs, markHeaders } from './table-headers.ts';

const MAX_HEADER_CHARACTERS = 60;
/** Cells of a row that are joined to one. */
const MAX_JOINED_COLUMNS = 200;

/** A cell that was read, before the cells below it that continue it are joined to it. */
interface OpenCell extends TableCell {
	/** It continues the cell above it, which has the text (ISO/IEC 29500-1, 17.4.84). */
	isContinued: boolean;
}

/**
 * What the style of a table says about its first row: `plain` is that it is like the others; `unstyled` is that it looks like the
 * others, which programs also write for tables whose author made the names bold.
 */
export type FirstRow = 'plain' | 'unstyled' | 'unknown';

/** Collects a table of a document or a presentation while its elements are read. */
export class TableBuilder {
	/** Blocks that follow the table: its notes. */
	readonly notes: string[] = [];
	firstRow: FirstRow = 'unknown';
	/** Whether the rows that begin are header rows, where the format groups those. */
	isInHeader = false;
	readonly #rows: TableRow[] = [];
	/** The cells of the open row. */
	#cells: OpenCell[] = [];
	/** The texts of the open cell. */
	#texts: string[] = [];
	#columns = 1;
	#rowSpan = 1;
	#isContinued = false;
	#isHeader = false;

	/** Adds a paragraph to the open cell. */
	addText(text: string): void {
		this.#texts.push(text);
	}

	/** How many columns the open cell spans. */
	spanColumns(columns: number): void {
		if (Number.isInteger(columns) && columns > 0) this.#columns = columns;
	}

	/** How many rows the open cell spans, where the format counts them. */
	spanRows(rows: number): void {
		if (Number.isInteger(rows) && rows > 0) this.#rowSpan = rows;
	}

	/** Whether the open cell continues the one above it. */
	continueCell(isContinued: boolean): void {
		this.#isContinued = isContinued;
	}

	/** The open row begins in a later column. */
	skipColumns(columns: number): void {
		if (Number.isInteger(columns) && columns > 0) this.#cells.push(emptyCell(columns));
	}

	/** Whether the open row is marked as a header. */
	markRow(isHeader: boolean): void {
		this.#isHeader = isHeader;
	}

	/** Ends the open cell; returns the number of its characters. */
	endCell(): number {
		const text = this.#texts.join(' ').replace(/\s+/gu, ' ');
		this.#cells.push({
			text,
			columns: this.#columns,
			rows: this.#rowSpan,
			isHeading: this.#cells.length === 0 && this.#columns > 1,
			isContinued: this.#isContinued,
		});
		this.#texts = [];
		this.#columns = 1;
		this.#rowSpan = 1;
		this.#isContinued = false;
		return text.length;
	}

	/** Ends the open cell, whose place the cell before it spans. That one gets its text. */
	joinToPrevious(): void {
		const previous = this.#cells.at(-1);
		if (previous === undefined || previous.columns >= MAX_JOINED_COLUMNS) {
			this.endCell();
			return;
		}
		previous.text = [previous.text, ...this.#texts].join(' ').trim();
		previous.columns++;
		previous.isHeading = this.#cells.length === 1;
		this.dropCell();
	}

	/** Leaves out the open cell: a cell beside it spans its place. */
	dropCell(): void {
		this.#texts = [];
		this.#columns = 1;
		this.#rowSpan = 1;
		this.#isContinued = false;
	}

	/** Ends the open row; returns the texts of its cells. */
	endRow(): string[] {
		const cells = this.#cells;
		const texts = cells.flatMap(({ text, isContinued }) => (text === '' || isContinued ? [] : [text]));
		if (cells.length > 0) this.#rows.push({ cells, isHeader: this.#isHeader && texts.length > 0 });
		this.#cells = [];
		this.#isHeader = false;
		return texts;
	}

	/** The blocks of the whole table. @param page see `Block` */
	blocks(page: number | null): Block[] {
		joinContinuedCells(this.#rows);
		markHeaders(this.#rows, (rows) => namesColumns(rows, this.firstRow));
		return tableBlocks(this.#rows, null, page);
	}
}

/** Whether the first row of a table without a marked header names its columns. */
function namesColumns(rows: readonly string[][], firstRow: FirstRow): boolean {
	const [first = []] = rows;
	if (firstRow === 'plain') return false;
	if (looksLikeHeader(rows)) return true;
	if (first.length < 2 || !first.every((text) => text !== '' && text.length <= MAX_HEADER_CHARACTERS && isName(text)))
		return false;
	// A table of two columns is a list of pairs as often as not.
	if (first.length > 2 && firstRow === 'unknown') return true;
	return hasColumnOfValues(rows) && !looksLikePairs(rows);
}

function emptyCell(columns: number): OpenCell {
	return { text: '', columns, rows: 1, isHeading: false, isContinued: false };
}

/** Turns cells that continue the one above them into the span of that one. One below no such cell keeps its own text. */
function joinContinuedCells(rows: TableRow[]): void {
	/** The cell above each column. */
	let above = new Map<number, TableCell>();
	for (const row of rows) {
		const next = new Map<number, TableCell>();
		const own: TableCell[] = [];
		let column = 0;
		for (const cell of row.cells as OpenCell[]) {
			const merged = cell.isContinued ? above.get(column) : undefined;
			if (merged?.columns === cell.columns) {
				merged.rows++;
				next.set(column, merged);
			} else {
				own.push(cell);
				next.set(column, cell);
			}
			column += cell.columns;
		}
		row.cells = own;
		above = next;
	}
}
