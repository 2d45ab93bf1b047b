import type { Block } from './blocks.ts';
import { TableBuilder } from './table-builder.ts';

/** Cells of a row whose definitions are kept. */
const MAX_COLUMNS = 1000;

interface CellDefinition {
	isContinued: boolean;
	isJoined: boolean;
}

const PLAIN_CELL: CellDefinition = { isContinued: false, isJoined: false };

/** The table of an RTF document that is being read. Its rows are defined (`\trowd` to `\cellx`) before or after their cells. */
export class RtfTable {
	#builder: TableBuilder | null = null;
	/** For each cell of the row, whether it continues the one above it, and whether it is joined to the one before it. */
	#definitions: CellDefinition[] = [];
	#next: CellDefinition = PLAIN_CELL;
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
		this.#definitions = [];
		this.#next = PLAIN_CELL;
	}

	markHeader(): void {
		this.#builder?.markRow(true);
	}

	/** The next cell that is defined continues the one above it. */
	continueCell(): void {
		this.#next = { ...this.#next, isContinued: true };
	}

	/** The next cell that is defined is joined to the one before it. */
	joinCell(): void {
		this.#next = { ...this.#next, isJoined: true };
	}

	defineCell(): void {
		if (this.#definitions.length < MAX_COLUMNS) this.#definitions.push(this.#next);
		this.#next = PLAIN_CELL;
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
		const { isContinued, isJoined } = this.#definitions[this.#cellIndex++] ?? PLAIN_CELL;
		builder.continueCell(isContinued);
		if (isJoined) builder.joinToPrevious();
		else builder.endCell();
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
