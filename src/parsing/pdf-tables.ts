import { type BodyBlock, toSingleLine } from './blocks.ts';
import type { HeadingLevelOf } from './pdf-headings.ts';
import type { Line, LinePiece } from './pdf-lines.ts';
import { rowText } from './table-blocks.ts';

/** A gap between two columns, in font sizes. Words of justified text are closer. */
const COLUMN_GAP = 1.2;
/** A smaller gap divides columns if texts of the next lines begin at the same edge. */
const MIN_COLUMN_GAP = 0.45;
const MIN_ALIGNED_LINES = 2;
const ALIGNMENT_LINES = 10;
/** A larger distance of lines, in font sizes, begins a row. The lines of a cell are closer. */
const ROW_GAP = 1.6;
/** A larger distance ends the table. */
const TABLE_GAP = 4;
const MAX_COLUMNS = 16;
/** Lines without a second column. More are no table. */
const MAX_NARROW_LINES = 12;

/** A table in the lines of a document. */
export interface PdfTable {
	/** The index of the line after it. */
	end: number;
	rows: BodyBlock[];
}

/** The text at one height of a table, by column. */
interface TextRow {
	baseline: number;
	cells: Map<number, string>;
}

/**
 * The table that begins at a line; null if none does. A table begins with a line of two or more columns, and goes on while each
 * piece of text stands in one column. A file draws a table row by row or cell by cell, so the lines of a cell may stand before
 * the next cell of its row.
 */
export function tableAt(lines: readonly Line[], start: number, levelOf: HeadingLevelOf): PdfTable | null {
	const first = lines[start];
	if (first === undefined || first.pieces.length < 2 || !first.isUpright) return null;
	const reader = new TableReader(first, lines.slice(start + 1, start + 1 + ALIGNMENT_LINES));
	if (reader.columns.length < 2) return null;
	let end = start;
	let wide = start;
	for (; end < lines.length && end - wide <= MAX_NARROW_LINES; end++) {
		const line = lines[end] as Line;
		if (levelOf(line) !== null) break;
		const columns = reader.add(line);
		if (columns === 0) break;
		if (columns > 1) wide = end;
	}
	// Text in the first column alone after the last row belongs to what follows.
	const { rows, count } = reader.finish(wide - start + 1, end - start);
	if (rows.filter((row) => row.filter((cell) => cell !== '').length > 1).length < 2) return null;
	return { end: start + count, rows: blocksOf(rows, first.page) };
}

function blocksOf(rows: string[][], page: number): BodyBlock[] {
	const [first = []] = rows;
	const header = first.length > 2 && rows.length > 1 && first.every((cell) => cell !== '' && !/\p{Nd}/u.test(cell));
	return rows.map((cells, index) => ({
		kind: 'row',
		text: rowText(cells),
		page,
		...(index === 0 ? { table: { header } } : {}),
	}));
}

interface Column {
	left: number;
	right: number;
}

/** Whether texts of several lines begin at the same place. */
function isEdge(left: number, { page, size }: Line, next: readonly Line[]): boolean {
	const begins = (line: Line) => line.pieces.some((piece) => Math.abs(piece.left - left) < 0.1 * size);
	return next.filter((line) => line.page === page && begins(line)).length >= MIN_ALIGNED_LINES;
}

class TableReader {
	readonly columns: Column[] = [];
	readonly #page: number;
	readonly #size: number;
	/** The text rows, and how many lines had been read when each was begun. */
	readonly #rows: TextRow[] = [];
	readonly #lines: Array<{ row: TextRow; column: number; text: string }[]> = [];

	/** @param next the lines after the first one, which show its columns */
	constructor(first: Line, next: readonly Line[]) {
		this.#page = first.page;
		this.#size = first.size;
		for (const { left, right } of first.pieces) {
			const last = this.columns.at(-1);
			if (last !== undefined && left < last.left) return;
			const gap = last === undefined ? Number.POSITIVE_INFINITY : (left - last.right) / first.size;
			if (last === undefined || gap >= COLUMN_GAP || (gap >= MIN_COLUMN_GAP && isEdge(left, first, next)))
				this.columns.push({ left, right });
			else last.right = Math.max(last.right, right);
		}
	}

	/** Adds a line; returns the number of columns that its height has now, 0 if it does not belong to the table. */
	add(line: Line): number {
		if (line.page !== this.#page || !line.isUpright) return 0;
		if (Math.abs(line.size - this.#size) > 0.15 * this.#size) return 0;
		const lowest = this.#rows.at(-1)?.baseline ?? line.baseline;
		if (lowest - line.baseline > TABLE_GAP * this.#size) return 0;
		const top = this.#rows[0]?.baseline ?? line.baseline;
		if (line.baseline > top + 0.3 * this.#size) return 0;
		const before = this.columns.map((column) => ({ ...column }));
		const parts: Array<{ column: number; text: string }> = [];
		for (const piece of line.pieces) {
			const column = this.#columnOf(piece);
			if (column === null || this.columns.length > MAX_COLUMNS) {
				this.columns.splice(0, Infinity, ...before);
				return 0;
			}
			parts.push({ column, text: piece.text });
		}
		const row = this.#rowAt(line.baseline);
		for (const { column, text } of parts) {
			const cell = row.cells.get(column);
			row.cells.set(column, cell === undefined ? text : `${cell} ${text}`);
		}
		this.#lines.push(parts.map((part) => ({ ...part, row })));
		return row.cells.size;
	}

	/**
	 * The cells of each row of the table.
	 * @param wide the number of lines up to the last one beside which another column has text
	 * @param all the number of lines
	 */
	finish(wide: number, all: number): { rows: string[][]; count: number } {
		let count = wide;
		let baseline = Math.min(...this.#lines.slice(0, wide).flatMap((parts) => parts.map(({ row }) => row.baseline)));
		for (; count < all; count++) {
			const [part] = this.#lines[count] ?? [];
			if (part === undefined || baseline - part.row.baseline > ROW_GAP * this.#size) break;
			baseline = Math.min(baseline, part.row.baseline);
		}
		const kept = new Set(this.#lines.slice(0, count).flatMap((parts) => parts.map(({ row }) => row)));
		const order = this.columns.map((_, index) => index).sort((a, b) => this.#leftOf(a) - this.#leftOf(b));
		const rows: string[][] = [];
		let last: number | null = null;
		for (const { baseline, cells } of this.#rows.filter((row) => kept.has(row))) {
			const gap: number = last === null ? Number.POSITIVE_INFINITY : last - baseline;
			const isNamed = cells.has(order[0] ?? 0) && cells.size > 1;
			if (isNamed || gap > ROW_GAP * this.#size) rows.push(order.map(() => ''));
			const row = rows.at(-1) ?? [];
			for (const [at, column] of order.entries()) {
				const text = cells.get(column);
				if (text !== undefined) row[at] = toSingleLine(`${row[at]} ${text}`);
			}
			last = baseline;
		}
		return { rows, count };
	}

	#leftOf(column: number): number {
		return this.columns[column]?.left ?? 0;
	}

	/** The column of a piece of text, extended to it; null if it stands in several. */
	#columnOf({ left, right }: LinePiece): number | null {
		const near = this.columns.flatMap((column, index) => (left < column.right && right > column.left ? [index] : []));
		if (near.length > 1) return null;
		let [index] = near;
		if (index === undefined) {
			const before = this.columns.findIndex(
				(column) => left >= column.right && left - column.right < COLUMN_GAP * this.#size,
			);
			if (before === -1) return this.columns.push({ left, right }) - 1;
			index = before;
		}
		const column = this.columns[index] as Column;
		const extended = { left: Math.min(column.left, left), right: Math.max(column.right, right) };
		const overlaps = this.columns.some(
			(other, at) => at !== index && extended.left < other.right && extended.right > other.left,
		);
		if (overlaps) return null;
		this.columns[index] = extended;
		return index;
	}

	/** The text row of a height. They are kept from top to bottom. */
	#rowAt(baseline: number): TextRow {
		let at = this.#rows.length;
		for (; at > 0; at--) {
			const row = this.#rows[at - 1] as TextRow;
			if (Math.abs(row.baseline - baseline) < 0.3 * this.#size) return row;
			if (row.baseline > baseline) break;
		}
		const row: TextRow = { baseline, cells: new Map() };
		this.#rows.splice(at, 0, row);
		return row;
	}
}
