import { stripInvisible } from './blocks.ts';
import type { SheetRow } from './sheet-blocks.ts';
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

/** Rows of a sheet, from 0, both included. */
interface RowRange {
	from: number;
	to: number;
}

/** Reads the cells of one sheet. */
export class SheetReader {
	readonly #strings: readonly string[];
	readonly #formats: readonly NumberFormat[];
	readonly #grid: SheetGrid;
	#cell: Cell | null = null;
	#filtered: RowRange[] = [];
	#inValue = false;
	#inPhonetic = false;
	#row = -1;
	#column = -1;

	constructor({ strings, formats, usage }: SharedParts) {
		this.#strings = strings;
		this.#formats = formats;
		this.#grid = new SheetGrid(usage);
	}

	/** The rows of a sheet that no person has hidden, as `SheetGrid` gives them. @param tables the parts of its tables */
	read(part: Uint8Array, tables: readonly Uint8Array[] = []): SheetRow[] {
		this.#filtered = [part, ...tables].flatMap((each) => filteredRows(each) ?? []);
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
			if (isTrue(element.attribute('hidden')) && !this.#isCollapsed(element)) this.#grid.hideRow(this.#row);
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

	/** Whether a row is hidden only for now: by a filter, or because its group is closed. */
	#isCollapsed(row: Element): boolean {
		if (Number(row.attribute('outlineLevel') ?? 0) > 0) return true;
		return this.#filtered.some(({ from, to }) => this.#row > from && this.#row <= to);
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
		if (type === 's') return value.trim() === '' ? '' : (this.#strings[Number(value)] ?? '');
		if (type === 'str' || type === 'inlineStr') return cellText(value);
		if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
		if (type === 'd') return value.trim().replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
		// An error such as #REF! is no content.
		if (type === 'e' || value.trim() === '') return '';
		const number = Number(value);
		return Number.isFinite(number) ? (this.#formats[style] ?? plainNumber)(number) : '';
	}
}

const MAX_FILTER_CHARACTERS = 500;

/**
 * The rows of a filter that leaves some out, with the row of its names first; null without one. It stands after the cells, so it
 * is searched before they are read.
 */
function filteredRows(part: Uint8Array): RowRange | null {
	const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
	const at = bytes.lastIndexOf('autoFilter ');
	if (at === -1) return null;
	const text = bytes.toString('latin1', at, at + MAX_FILTER_CHARACTERS);
	const range = /^autoFilter [^<>]*\bref="([A-Z]+\d+):([A-Z]+\d+)"[^<>/]*>\s*<(?:\w+:)?filterColumn/.exec(text);
	const [from, to] = [cellReferenceOf(range?.[1] ?? ''), cellReferenceOf(range?.[2] ?? '')];
	return from === null || to === null ? null : { from: from.row, to: to.row };
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
