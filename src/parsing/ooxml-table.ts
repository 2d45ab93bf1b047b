import type { Block } from './blocks.ts';
import { looksLikeHeader, markHeaders, type TableCell, type TableRow, tableBlocks } from './table-blocks.ts';

const MAX_HEADER_CHARACTERS = 60;

/** A cell before the cells that continue it were joined with it. */
interface OpenCell extends TableCell {
	/** It continues the cell above it, which has the text (ISO/IEC 29500-1, 17.4.84). */
	isContinued: boolean;
}

/** Collects a table of a Word document or a presentation while its elements are read. */
export class TableBuilder {
	/** Blocks that follow the table: its notes. */
	readonly notes: string[] = [];
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

	/** Leaves out the open cell: a cell beside it spans its place. */
	dropCell(): void {
		this.#texts = [];
		this.#columns = 1;
		this.#rowSpan = 1;
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
		markHeaders(this.#rows, (first, second) => {
			const isFilled = first.every((text) => text !== '' && text.length <= MAX_HEADER_CHARACTERS);
			return (isFilled && first.length > 1) || looksLikeHeader(first, second);
		});
		return tableBlocks(this.#rows, null, page);
	}
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
