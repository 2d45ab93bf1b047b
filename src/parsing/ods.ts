import { type Block, type ExtractedDocument, languageOf, stripInvisible, toSingleLine } from './blocks.ts';
import { TextBudget } from './limits.ts';
import { countOf, openOdf } from './odf-package.ts';
import { propertiesOf } from './ooxml-package.ts';
import { type SheetRow, sheetBlocks } from './sheet-blocks.ts';
import { SheetGrid, SheetUsage } from './sheet-grid.ts';
import { DEFAULT_SHEET_NAME } from './sheet-names.ts';
import { type Element, readXml } from './xml-reader.ts';

const KIND = 'spreadsheet';
const MAX_CELL_CHARACTERS = 32_767;
/** A cell or row with text is repeated at most so many times. */
const MAX_REPETITIONS = 200;

/** Subtrees whose text is no part of a cell: comments, and the texts of charts and shapes. */
const SKIPPED = new Set([
	'office:annotation',
	'table:shapes',
	'draw:frame',
	'table:dde-links',
	'table:tracked-changes',
]);

/**
 * Reads an OpenDocument spreadsheet: each visible sheet under its name, as tables, without hidden rows and columns. Values are read as
 * the file shows them.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseOds(bytes: Uint8Array): ExtractedDocument {
	const { content, meta } = openOdf(bytes, KIND);
	const reader = new SheetsReader();
	readXml(content, reader, KIND);
	const budget = new TextBudget();
	const blocks: Block[] = [];
	for (const { name, rows } of reader.sheets) {
		const found = sheetBlocks(rows, budget);
		const isNamed = reader.sheets.length > 1 || !DEFAULT_SHEET_NAME.test(name);
		if (found.length > 0 && isNamed && name !== '') blocks.push({ kind: 'heading', level: 1, text: name, page: null });
		for (const block of found) blocks.push(block);
	}
	const { title, language } = propertiesOf(meta, KIND);
	return {
		format: 'ods',
		title: title || null,
		declared_language: languageOf(language),
		page_count: null,
		blocks,
	};
}

interface Cell {
	texts: string[];
	/** A span of another cell hides it. */
	isCovered: boolean;
	/** The value in the file, for a cell without text. */
	value: string;
	repeated: number;
	columns: number;
	rows: number;
}

/** Reads all tables of a spreadsheet; repeated cells and rows as often as they stand there, within limits. */
class SheetsReader {
	readonly sheets: Array<{ name: string; rows: SheetRow[] }> = [];
	/** The names of the styles of hidden sheets. */
	readonly #hiddenStyles = new Set<string>();
	readonly #usage = new SheetUsage();
	#style = '';
	#name = '';
	#grid: SheetGrid | null = null;
	/** Tables within cells are left out. */
	#depth = 0;
	#row = 0;
	#rowRepeated = 1;
	#column = 0;
	/** The column that the next column element describes. */
	#nextColumn = 0;
	#cell: Cell | null = null;
	/** The cells of the open row that have text, and the ranges that they span. */
	#filled: Array<{ column: number; text: string; columns: number; rows: number }> = [];
	#merged: Array<{ row: number; column: number; columns: number; rows: number }> = [];
	#text: string | null = null;
	#skipping = 0;

	open(element: Element): void {
		const { name } = element;
		if (this.#skipping > 0 || SKIPPED.has(name)) {
			this.#skipping++;
			return;
		}
		if (name === 'style:style') this.#style = element.attribute('style:name') ?? '';
		else if (name === 'style:table-properties' && element.attribute('display') === 'false')
			this.#hiddenStyles.add(this.#style);
		else if (name === 'table:table') this.#openTable(element);
		else if (this.#grid === null || this.#depth > 1) return;
		else if (name === 'table:table-column') this.#addColumn(element);
		else if (name === 'table:table-row') this.#openRow(element);
		else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#openCell(element);
		else if (name === 'text:p' || name === 'text:h') this.#text = '';
		else if (name === 'text:s' || name === 'text:tab' || name === 'text:line-break') this.text(' ');
	}

	close(name: string): void {
		if (this.#skipping > 0) {
			this.#skipping--;
			return;
		}
		if (name === 'table:table') this.#endTable();
		else if (this.#grid === null || this.#depth > 1) return;
		else if (name === 'text:p' || name === 'text:h') {
			if (this.#text !== null) this.#cell?.texts.push(this.#text);
			this.#text = null;
		} else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#endCell();
		else if (name === 'table:table-row') this.#endRow();
	}

	text(text: string): void {
		if (this.#text !== null && this.#skipping === 0 && this.#text.length < MAX_CELL_CHARACTERS) this.#text += text;
	}

	#openTable(element: Element): void {
		if (++this.#depth > 1) return;
		const isHidden = this.#hiddenStyles.has(element.attribute('table:style-name') ?? '');
		this.#name = toSingleLine(element.attribute('table:name') ?? '');
		this.#grid = isHidden ? null : new SheetGrid(this.#usage);
		this.#row = this.#nextColumn = 0;
		this.#merged = [];
	}

	#endTable(): void {
		const grid = this.#grid;
		if (--this.#depth > 0 || grid === null) return;
		for (const { row, column, columns, rows } of this.#merged)
			grid.merge({ row, column }, { row: row + rows - 1, column: column + columns - 1 });
		this.sheets.push({ name: this.#name, rows: grid.rows() });
		this.#grid = null;
	}

	#addColumn(element: Element): void {
		const count = countOf(element.attribute('number-columns-repeated'));
		if (isHidden(element)) this.#grid?.hideColumns(this.#nextColumn, this.#nextColumn + count - 1);
		this.#nextColumn += count;
	}

	#openRow(element: Element): void {
		this.#rowRepeated = countOf(element.attribute('number-rows-repeated'));
		this.#column = 0;
		this.#filled = [];
		if (!isHidden(element)) return;
		for (let row = 0; row < Math.min(this.#rowRepeated, MAX_REPETITIONS); row++) this.#grid?.hideRow(this.#row + row);
	}

	#openCell(element: Element): void {
		this.#cell = {
			texts: [],
			isCovered: element.name === 'table:covered-table-cell',
			value: element.attribute('string-value') ?? element.attribute('value') ?? '',
			repeated: countOf(element.attribute('number-columns-repeated')),
			columns: countOf(element.attribute('number-columns-spanned')),
			rows: countOf(element.attribute('number-rows-spanned')),
		};
	}

	#endCell(): void {
		const cell = this.#cell;
		this.#cell = null;
		if (cell === null) return;
		const shown = cell.isCovered ? '' : cell.texts.length > 0 ? cell.texts.join(' ') : cell.value;
		const text = stripInvisible(shown.slice(0, MAX_CELL_CHARACTERS)).trim();
		const { columns, rows } = cell;
		if (text !== '') {
			for (let index = 0; index < Math.min(cell.repeated, MAX_REPETITIONS); index++)
				this.#filled.push({ column: this.#column + index, text, columns, rows });
		}
		this.#column += cell.repeated;
	}

	#endRow(): void {
		const repetitions = this.#filled.length === 0 ? 0 : Math.min(this.#rowRepeated, MAX_REPETITIONS);
		for (let index = 0; index < repetitions; index++) {
			const row = this.#row + index;
			for (const { column, text, columns, rows } of this.#filled) {
				if (this.#grid?.isHidden({ row, column }) !== false) continue;
				this.#grid.set({ row, column }, text);
				if (columns > 1 || rows > 1) this.#merged.push({ row, column, columns, rows });
			}
		}
		this.#row += this.#rowRepeated;
	}
}

/** `collapse` is hidden by a person. What a filter hides is content. */
function isHidden(element: Element): boolean {
	return element.attribute('visibility') === 'collapse';
}
