import { MAX_TEXT_BYTES, resourceLimit } from './limits.ts';
import { TableBuilder } from './table-builder.ts';

/** Rows are kept until their table ends; their text counts already. */
const MAX_TABLE_CELLS = 500_000;

/** The maximum number of characters that nested tables may copy into the cells around them. */
const MAX_NESTED_CHARACTERS = 5 * MAX_TEXT_BYTES;

interface OpenTable {
	builder: TableBuilder;
	/** The number of text boxes and notes around it. */
	boxes: number;
}

/**
 * The open tables of a text document. A table within a cell is part of that cell's text. A table in a text box stands by itself, also
 * if the box is anchored in a cell.
 */
export class TableStack {
	/** What the file is, for the sentences of errors. */
	readonly #kind: string;
	/** The innermost one is the last. */
	readonly #tables: OpenTable[] = [];
	#nestedCharacters = 0;
	#cells = 0;

	constructor(kind: string) {
		this.#kind = kind;
	}

	get innermost(): TableBuilder | undefined {
		return this.#tables.at(-1)?.builder;
	}

	/** The table that text in this number of boxes belongs to; undefined if it stands in no cell, or in a box within a cell. */
	around(boxes: number): TableBuilder | undefined {
		const table = this.#tables.at(-1);
		return table?.boxes === boxes ? table.builder : undefined;
	}

	open(boxes: number): void {
		this.#tables.push({ builder: new TableBuilder(), boxes });
	}

	/** Ends the open cell of the innermost table. @throws AppError `resource_limit` */
	endCell(): void {
		this.#nestedCharacters += this.innermost?.endCell() ?? 0;
		if (this.#nestedCharacters > MAX_NESTED_CHARACTERS)
			throw resourceLimit(`The tables of the ${this.#kind} are nested too deeply.`);
		if (++this.#cells > MAX_TABLE_CELLS)
			throw resourceLimit(`The tables of the ${this.#kind} have too many cells. Split it.`);
	}

	/** Ends the open row of the innermost table. */
	endRow(): void {
		const texts = this.innermost?.endRow() ?? [];
		if (texts.length > 0) this.#outer()?.addText(texts.join(', '));
	}

	/** Ends the innermost table. */
	end(): { table: TableBuilder; isNested: boolean } | null {
		const isNested = this.#outer() !== undefined;
		const ended = this.#tables.pop();
		return ended ? { table: ended.builder, isNested } : null;
	}

	/** The table in whose cell the innermost one stands. */
	#outer(): TableBuilder | undefined {
		const [outer, inner] = this.#tables.slice(-2);
		return inner !== undefined && outer?.boxes === inner.boxes ? outer.builder : undefined;
	}
}
