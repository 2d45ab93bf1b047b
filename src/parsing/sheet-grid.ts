import { MAX_TEXT_BYTES, resourceLimit } from './limits.ts';
import { MAX_CELLS, type SheetRow } from './sheet-blocks.ts';

/** The number of columns in Excel and LibreOffice. */
const MAX_COLUMNS = 16_384;
/** Cells that merged cells may fill. */
const MAX_MERGED_CELLS = 100_000;
/** Longer texts of merged cells are not repeated. */
const MAX_REPEATED_CHARACTERS = 200;
/** Hidden columns that do not stand side by side. */
const MAX_HIDDEN_RANGES = 100;

/** What the sheets of a file have used of its limits. */
export class SheetUsage {
	cells = 0;
	characters = 0;
	merged = 0;
}

/** A cell by its row and column, from 0. */
export interface CellReference {
	row: number;
	column: number;
}

/** The texts of a sheet while its cells are read. */
export class SheetGrid {
	readonly #usage: SheetUsage;
	/** The texts by row and column, from 0. */
	readonly #rows = new Map<number, Map<number, string>>();
	/** Ranges of hidden columns. */
	readonly #hiddenColumns: Array<{ from: number; to: number }> = [];
	readonly #hiddenRows = new Set<number>();
	/** Rows whose only cell spans several columns. */
	readonly #mergedRows = new Set<number>();

	constructor(usage: SheetUsage) {
		this.#usage = usage;
	}

	/** Hides columns, both included. Called from left to right. */
	hideColumns(from: number, to: number): void {
		const last = this.#hiddenColumns.at(-1);
		if (last !== undefined && last.to + 1 === from) last.to = to;
		else if (this.#hiddenColumns.length < MAX_HIDDEN_RANGES) this.#hiddenColumns.push({ from, to });
	}

	/** Hides a row, before its cells are set. */
	hideRow(row: number): void {
		this.#hiddenRows.add(row);
	}

	/** Whether a cell is in a hidden row or column. */
	isHidden({ row, column }: CellReference): boolean {
		return this.#hiddenRows.has(row) || this.#hiddenColumns.some(({ from, to }) => column >= from && column <= to);
	}

	/** Sets the text of a cell. @throws AppError `resource_limit` */
	set({ row, column }: CellReference, text: string): void {
		this.#usage.characters += text.length;
		if (this.#usage.characters > MAX_TEXT_BYTES) {
			throw resourceLimit('The spreadsheet holds more than 10 MB of text. Split it into smaller files.');
		}
		if (++this.#usage.cells > MAX_CELLS || column >= MAX_COLUMNS) throw resourceLimit(TOO_MANY_CELLS);
		let cells = this.#rows.get(row);
		if (cells === undefined) {
			cells = new Map();
			this.#rows.set(row, cells);
		}
		cells.set(column, text);
	}

	/** Repeats the text of a merged cell in each cell of its range, up to the limit. */
	merge(from: CellReference, to: CellReference): void {
		const text = this.#rows.get(from.row)?.get(from.column);
		if (text === undefined || text.length > MAX_REPEATED_CHARACTERS) return;
		if (this.#isTitle(from, to)) {
			this.#mergedRows.add(from.row);
			return;
		}
		for (let row = from.row; row <= to.row; row++) {
			for (let column = from.column; column <= to.column; column++) {
				if (++this.#usage.merged > MAX_MERGED_CELLS) return;
				const isEmpty = this.#rows.get(row)?.has(column) === false;
				if (isEmpty && !this.isHidden({ row, column })) this.set({ row, column }, text);
			}
		}
	}

	/** A merged cell over several columns without another cell beside it is a title, which stays one cell. */
	#isTitle(from: CellReference, to: CellReference): boolean {
		if (from.column === to.column || this.#rows.get(from.row)?.size !== 1) return false;
		for (let row = from.row + 1; row <= to.row; row++) {
			if (++this.#usage.merged > MAX_MERGED_CELLS) return true;
			if ((this.#rows.get(row)?.size ?? 0) > 0) return false;
		}
		return true;
	}

	/** The rows from top to bottom, with the columns that have text. An empty row stands for any number of them. */
	rows(): SheetRow[] {
		const columns = [...new Set([...this.#rows.values()].flatMap((cells) => [...cells.keys()]))].sort((a, b) => a - b);
		const rows: SheetRow[] = [];
		let last = -1;
		for (const [row, cells] of [...this.#rows].sort(([a], [b]) => a - b)) {
			if (last !== -1 && row > this.#visibleRowAfter(last)) rows.push({ cells: [], isMerged: false });
			const end = Math.max(...cells.keys());
			const texts: string[] = [];
			for (const column of columns) {
				if (column > end) break;
				texts.push(cells.get(column) ?? '');
			}
			rows.push({ cells: texts, isMerged: this.#mergedRows.has(row) });
			last = row;
			// The filled cells were counted when they were set.
			this.#usage.cells += texts.length - cells.size;
			if (this.#usage.cells > MAX_CELLS) throw resourceLimit(TOO_MANY_CELLS);
		}
		return rows;
	}

	#visibleRowAfter(row: number): number {
		let next = row + 1;
		while (this.#hiddenRows.has(next)) next++;
		return next;
	}
}

const TOO_MANY_CELLS = `The spreadsheet has more than ${MAX_CELLS.toLocaleString('en')} cells. Split it into smaller files.`;
