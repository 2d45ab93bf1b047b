import type { Block } from './blocks.ts';
import { TableBuilder } from './ooxml-table.ts';

/** Cells of a row whose definitions are kept. */
const MAX_COLUMNS = 1000;

/** The table of an RTF document that is being read. Its rows are defined (`\trowd` to `\cellx`) before or after their cells. */
export class RtfTable {
	#builder: TableBuilder | null = null;
	/** For each cell of the row, whether it continues the one above it. */
	#continued: boolean[] = [];
	#isContinued = false;
	#cellIndex = 0;
	/** The cells of the open row of a table within a cell. */
	#nestedCells: string[] = [];

	/** Whether a row has begun since the last end. */
	get isOpen(): boolean {
		return this.#builder !== null;
	}

	/** Begins the definition of a row. */
	beginRow(): void {
		this.#open();
		this.#continued = [];
		this.#isContinued = false;
	}

	markHeader(): void {
		this.#builder?.markRow(true);
	}

	/** The next cell that is defined continues the one above it. */
	continueCell(): void {
		this.#isContinued = true;
	}

	defineCell(): void {
		if (this.#continued.length < MAX_COLUMNS) this.#continued.push(this.#isContinued);
		this.#isContinued = false;
	}

	/** Adds a paragraph to the open cell. */
	addText(text: string): void {
		const builder = this.#open();
		if (text !== '') builder.addText(text);
	}

	/** @param text the last paragraph of the cell */
	endCell(text: string): void {
		this.endNestedRow();
		this.addText(text);
		const builder = this.#open();
		builder.continueCell(this.#continued[this.#cellIndex++] ?? false);
		builder.endCell();
	}

	endRow(): void {
		this.#builder?.endRow();
		this.#cellIndex = 0;
	}

	/** @param text the text of a cell of a table within a cell */
	endNestedCell(text: string): void {
		if (text !== '') this.#nestedCells.push(text);
	}

	/** A table within a cell is part of that cell's text. */
	endNestedRow(): void {
		if (this.#nestedCells.length === 0) return;
		this.addText(this.#nestedCells.join(', '));
		this.#nestedCells = [];
	}

	/** Ends the table. Returns its blocks. */
	end(): Block[] {
		this.endRow();
		const builder = this.#builder;
		this.#builder = null;
		return builder === null ? [] : [...builder.blocks(null)];
	}

	#open(): TableBuilder {
		this.#builder ??= new TableBuilder();
		return this.#builder;
	}
}
