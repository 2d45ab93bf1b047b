import { stripInvisible } from './blocks.ts';
import { type CellReference, SheetGrid, type SheetUsage } from './sheet-grid.ts';
import { type NumberFormat, plainNumber } from './xlsx-format.ts';
import { type Element, readXml } from './xml-reader.ts';

/** The limit of Excel. */
const MAX_CELL_CHARACTERS = 32_767;

/** What the sheets of a workbook share. */
export interface SharedParts {
	/** The texts that cells name by their number. */
	strings: readonly string[];
	/** The format of each style. */
	formats: readonly NumberFormat[];
	usage: SheetUsage;
}

interface Cell extends CellReference {
	type: string;
	style: number;
	value: string;
}

/** Reads the cells of one sheet. */
export class SheetReader {
	readonly #strings: readonly string[];
	readonly #formats: readonly NumberFormat[];
	readonly #grid: SheetGrid;
	#cell: Cell | null = null;
	#inValue = false;
	#inPhonetic = false;
	#row = -1;
	#column = -1;

	constructor({ strings, formats, usage }: SharedParts) {
		this.#strings = strings;
		this.#formats = formats;
		this.#grid = new SheetGrid(usage);
	}

	/** The visible rows of a sheet, as `SheetGrid` gives them. */
	read(part: Uint8Array): string[][] {
		readXml(part, this, 'spreadsheet');
		return this.#grid.rows();
	}

	open(element: Element): void {
		const { name } = element;
		if (name === 'col') this.#addColumns(element);
		else if (name === 'row') {
			const number = Number(element.attribute('r'));
			this.#row = Number.isInteger(number) && number > 0 ? number - 1 : this.#row + 1;
			this.#column = -1;
			if (isTrue(element.attribute('hidden'))) this.#grid.hideRow(this.#row);
		} else if (name === 'c') {
			const reference = cellReferenceOf(element.attribute('r') ?? '');
			this.#column = reference?.column ?? this.#column + 1;
			this.#cell = {
				row: this.#row,
				column: this.#column,
				type: element.attribute('t') ?? 'n',
				style: Number(element.attribute('s') ?? 0),
				value: '',
			};
		} else if (name === 'mergeCell') {
			const [from, to] = (element.attribute('ref') ?? '').split(':').map(cellReferenceOf);
			if (from != null && to != null) this.#grid.merge(from, to);
		} else if (name === 'rPh') this.#inPhonetic = true;
		this.#inValue = name === 'v' || (name === 't' && !this.#inPhonetic);
	}

	close(name: string): void {
		this.#inValue = false;
		if (name === 'rPh') this.#inPhonetic = false;
		if (name !== 'c' || this.#cell === null) return;
		const text = this.#grid.isHidden(this.#cell) ? '' : this.#textOf(this.#cell);
		if (text !== '') this.#grid.set(this.#cell, text);
		this.#cell = null;
	}

	text(value: string): void {
		if (!this.#inValue || this.#cell === null) return;
		this.#cell.value += value;
	}

	#addColumns(element: Element): void {
		const from = Number(element.attribute('min')) - 1;
		const to = Number(element.attribute('max')) - 1;
		if (isTrue(element.attribute('hidden')) && from >= 0 && to >= from) this.#grid.hideColumns(from, to);
	}

	#textOf({ type, value, style }: Cell): string {
		if (type === 's') return this.#strings[Number(value)] ?? '';
		if (type === 'str' || type === 'inlineStr') return cellText(value);
		if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
		if (type === 'd') return value.trim().replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
		// An error such as #REF! is no content.
		if (type === 'e' || value.trim() === '') return '';
		const number = Number(value);
		return Number.isFinite(number) ? (this.#formats[style] ?? plainNumber)(number) : '';
	}
}

/** The row and column of a reference such as `B7`, from 0. */
function cellReferenceOf(reference: string): CellReference | null {
	const match = /^([A-Z]{1,3})(\d{1,7})$/.exec(reference);
	if (match === null) return null;
	let column = 0;
	for (const letter of match[1] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
	return { row: Number(match[2]) - 1, column: column - 1 };
}

/** The text of a cell, without invisible characters. */
export function cellText(text: string): string {
	return stripInvisible(text.slice(0, MAX_CELL_CHARACTERS)).trim();
}

/** Whether an attribute has one of the two forms of true. */
export function isTrue(value: string | null): boolean {
	return /^(?:1|true)$/.test(value ?? '');
}
