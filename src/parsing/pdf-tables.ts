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
/** Lines of one row. More are no table. */
const MAX_ROW_LINES = 60;
/** A line of more pieces is no row of a table. */
const MAX_PIECES = 100;
/** A bullet or number that stands apart from the text of a list item. */
const MARKER = /^(?:[•▪◦‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z])[.)])$/iu;

/** A number, a date or an amount. */
const VALUE = /^(?!.*\p{L}{4}).*\p{Nd}/u;

/** A table in the lines of a document. */
export interface PdfTable {
	/** The index of the line after it. */
	end: number;
	rows: BodyBlock[];
}

/** The text at one height of a table, by column. */
interface TextRow {
	baseline: number;
	cells: Map<number, CellLine>;
}

/** One line of a cell. */
interface CellLine {
	text: string;
	left: number;
	right: number;
}

/**
 * The table that begins at a line; null if none does. A table begins with a line of two or more columns, and goes on while each
 * piece of text stands in one column. A file draws a table row by row or cell by cell, so the lines of a cell may stand before
 * the next cell of its row.
 */
export function tableAt(lines: readonly Line[], start: number, levelOf: HeadingLevelOf): PdfTable | null {
	const first = lines[start];
	if (first === undefined || !mayBeRow(first) || !first.isUpright) return null;
	const reader = new TableReader(first, lines.slice(start + 1, start + 1 + ALIGNMENT_LINES));
	if (reader.columns.length < (MARKER.test(first.pieces[0]?.text ?? '') ? 3 : 2)) return null;
	let end = start;
	let wide = start;
	let named = start;
	for (; end < lines.length && end - wide <= MAX_NARROW_LINES && end - named <= MAX_ROW_LINES; end++) {
		const line = lines[end] as Line;
		if (levelOf(line) !== null) break;
		const columns = reader.add(line);
		if (columns === 0) break;
		if (columns > 1) wide = end;
		if (columns > 1 && reader.isInFirstColumn(line)) named = end;
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

function mayBeRow({ pieces }: Line): boolean {
	return pieces.length > 1 && pieces.length <= MAX_PIECES;
}

interface Column {
	left: number;
	right: number;
}

/** Whether texts of several lines begin at the same place. */
function isEdge(left: number, { page, size }: Line, next: readonly Line[]): boolean {
	const begins = (line: Line) => line.pieces.some((piece) => Math.abs(piece.left - left) < 0.1 * size);
	return next.filter((line) => line.page === page && mayBeRow(line) && begins(line)).length >= MIN_ALIGNED_LINES;
}

class TableReader {
	readonly columns: Column[] = [];
	readonly #page: number;
	readonly #size: number;
	/** The text rows from top to bottom, and the row of each line in the order of the file. */
	readonly #rows: TextRow[] = [];
	readonly #lines: TextRow[] = [];

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
		if (line.page !== this.#page || !line.isUpright || line.pieces.length > MAX_PIECES) return 0;
		if (Math.abs(line.size - this.#size) > 0.15 * this.#size) return 0;
		const lowest = this.#rows.at(-1)?.baseline ?? line.baseline;
		if (lowest - line.baseline > TABLE_GAP * this.#size) return 0;
		const top = this.#rows[0]?.baseline ?? line.baseline;
		if (line.baseline > top + 0.3 * this.#size) return 0;
		const before = this.columns.map((column) => ({ ...column }));
		const parts: Array<{ column: number; piece: LinePiece }> = [];
		for (const piece of line.pieces) {
			const column = this.#columnOf(piece);
			if (column === null || this.columns.length > MAX_COLUMNS) {
				this.columns.splice(0, Infinity, ...before);
				return 0;
			}
			parts.push({ column, piece });
		}
		const row = this.#rowAt(line.baseline);
		for (const { column, piece } of parts) {
			const cell = row.cells.get(column);
			const text = cell === undefined ? piece.text : `${cell.text} ${piece.text}`;
			const left = Math.min(cell?.left ?? piece.left, piece.left);
			const right = Math.max(cell?.right ?? piece.right, piece.right);
			row.cells.set(column, { text, left, right });
		}
		this.#lines.push(row);
		return row.cells.size;
	}

	/** Whether a line begins in the leftmost column. */
	isInFirstColumn(line: Line): boolean {
		return line.left < Math.min(...this.columns.map(({ right }) => right));
	}

	/**
	 * The cells of each row of the table.
	 * @param wide the number of lines up to the last one beside which another column has text
	 * @param all the number of lines
	 */
	finish(wide: number, all: number): { rows: string[][]; count: number } {
		let count = wide;
		let lowest = Number.POSITIVE_INFINITY;
		for (const { baseline } of this.#lines.slice(0, wide)) lowest = Math.min(lowest, baseline);
		for (; count < all; count++) {
			const row = this.#lines[count];
			if (row === undefined || lowest - row.baseline > ROW_GAP * this.#size) break;
			lowest = Math.min(lowest, row.baseline);
		}
		const kept = new Set(this.#lines.slice(0, count));
		const order = this.columns.map((_, index) => index).sort((a, b) => this.#leftOf(a) - this.#leftOf(b));
		const rows: string[][] = [];
		let last: TextRow | null = null;
		/** The last line of each cell of the row. */
		let above = new Map<number, CellLine>();
		for (const textRow of this.#rows.filter((row) => kept.has(row))) {
			const { baseline, cells } = textRow;
			const gap: number = last === null ? Number.POSITIVE_INFINITY : last.baseline - baseline;
			const isNamed = cells.has(order[0] ?? 0) && cells.size > 1;
			if (isNamed || gap > ROW_GAP * this.#size || this.#isUnnamedRow(cells, above)) {
				rows.push(order.map(() => ''));
				above = new Map();
			}
			const row = rows.at(-1) ?? [];
			for (const [at, column] of order.entries()) {
				const line = cells.get(column);
				if (line === undefined) continue;
				row[at] = toSingleLine(`${row[at]} ${line.text}`);
				above.set(column, line);
			}
			last = textRow;
		}
		return { rows, count };
	}

	/**
	 * Whether the cells at one height, without one in the first column, are a row of their own: there are several, and they are values,
	 * or no text above them was broken because the next word did not fit into its column.
	 */
	#isUnnamedRow(cells: ReadonlyMap<number, CellLine>, above: ReadonlyMap<number, CellLine>): boolean {
		if (cells.size < 2) return false;
		if ([...cells.values()].every(({ text }) => VALUE.test(text))) return true;
		return [...cells].every(([column, line]) => !this.#isWrapped(above.get(column), line, column));
	}

	#isWrapped(before: CellLine | undefined, { text, left, right }: CellLine, column: number): boolean {
		if (before === undefined || !/\p{L}/u.test(before.text)) return false;
		const word = ((right - left) * (text.split(' ', 1)[0]?.length ?? 0)) / Math.max(1, text.length);
		return before.right + word + 0.5 * this.#size >= (this.columns[column]?.right ?? 0);
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
		const distance = 0.3 * this.#size;
		// The first row that is not above the height.
		let at = 0;
		for (let end = this.#rows.length; at < end; ) {
			const middle = (at + end) >> 1;
			if ((this.#rows[middle] as TextRow).baseline > baseline) at = middle + 1;
			else end = middle;
		}
		for (const row of [this.#rows[at], this.#rows[at - 1]])
			if (row !== undefined && Math.abs(row.baseline - baseline) < distance) return row;
		const row: TextRow = { baseline, cells: new Map() };
		this.#rows.splice(at, 0, row);
		return row;
	}
}
