import { type Block, type BodyBlock, toSingleLine } from './blocks.ts';
import { resourceLimit, type TextBudget } from './limits.ts';
import { joinHeaders, rowText } from './table-blocks.ts';
import { isName, isValue, looksLikePairs } from './table-headers.ts';

/** The maximum number of cells of a file, empty ones between others included. 10 MB of text have fewer. */
export const MAX_CELLS = 2_000_000;
/** Rows from whose blank ones it is decided whether all rows of a sheet are double-spaced. */
const SPACING_SAMPLE_ROWS = 40;
const MIN_SPACED_ROWS = 3;

/** A row of a sheet. */
export interface SheetRow {
	cells: string[];
	/** Its only cell spans several columns, so it names what follows. */
	isMerged: boolean;
}

/** Rows that are read before the first ones are written, to find the columns that have text. */
interface Region {
	rows: string[][];
	/** The indices of rows whose only cell spans several columns. */
	merged: Set<number>;
	/** Whether a row after the first one has a value. */
	hasValues: boolean;
	/** The lines above the table, each in one cell. The last one names the table. */
	titles: string[];
}

/**
 * The blocks of a sheet, whose rows have no mark but merged cells. A blank row ends a table only if the next row is a title or names the
 * columns of the row after it. A single cell above a table is its caption. Single cells within a table name the rows after them if
 * the table begins with one and has several.
 */
export function sheetBlocks(rows: Iterable<SheetRow>, budget: TextBudget): Block[] {
	const blocks: Block[] = [];
	let region = emptyRegion();
	let isAfterBlank = false;
	const end = () => {
		writeRegion(region, blocks, budget);
		region = emptyRegion();
	};
	for (const [row, next] of withNext(withoutDoubleSpacing(trimmedRows(rows)))) {
		const { cells } = row;
		const filled = countFilled(cells);
		if (filled === 0) {
			isAfterBlank = true;
			continue;
		}
		const isTitle = filled === 1 && (region.rows.length === 0 || isAfterBlank);
		const startsTable =
			isAfterBlank && region.rows.length > 0 && (isTitle || isOtherHeader(cells, next?.cells, region));
		if (startsTable) end();
		if (isTitle) region.titles.push(onlyText(cells));
		else {
			region.hasValues ||= region.rows.length > 0 && cells.some(isValue);
			if (row.isMerged) region.merged.add(region.rows.length);
			region.rows.push(cells);
		}
		isAfterBlank = false;
	}
	end();
	return blocks;
}

function emptyRegion(): Region {
	return { rows: [], merged: new Set(), hasValues: false, titles: [] };
}

/** The text of a row with one cell. */
function onlyText(cells: readonly string[]): string {
	return cells.find((cell) => cell !== '') ?? '';
}

const TOO_MANY_CELLS = `The file has more than ${MAX_CELLS.toLocaleString('en')} cells. Split it into smaller files.`;

/** The rows with each cell on one line, without empty cells at their end. */
function* trimmedRows(rows: Iterable<SheetRow>): Generator<SheetRow> {
	let count = 0;
	for (const { cells, isMerged } of rows) {
		count += cells.length + 1;
		if (count > MAX_CELLS) throw resourceLimit(TOO_MANY_CELLS);
		yield { cells: withoutEmptyEnd(cells.map(toSingleLine)), isMerged };
	}
}

/** Leaves out blank rows if each row of the sheet is followed by one: then they separate nothing. */
function* withoutDoubleSpacing(rows: Iterable<SheetRow>): Generator<SheetRow> {
	const sample: SheetRow[] = [];
	let isSpaced: boolean | null = null;
	for (const row of rows) {
		if (isSpaced === null) {
			sample.push(row);
			if (sample.length < SPACING_SAMPLE_ROWS) continue;
			isSpaced = isDoubleSpaced(sample);
			for (const row of sample) if (!isSpaced || row.cells.length > 0) yield row;
		} else if (!isSpaced || row.cells.length > 0) yield row;
	}
	if (isSpaced !== null) return;
	isSpaced = isDoubleSpaced(sample);
	for (const row of sample) if (!isSpaced || row.cells.length > 0) yield row;
}

function isDoubleSpaced(rows: readonly SheetRow[]): boolean {
	const isFilled = rows.map(({ cells }) => cells.length > 0);
	const filled = isFilled.filter((is) => is).length;
	return filled >= MIN_SPACED_ROWS && isFilled.every((is, index) => index === 0 || is !== isFilled[index - 1]);
}

function* withNext<T>(items: Iterable<T>): Generator<[item: T, next: T | undefined]> {
	let held: { item: T } | null = null;
	for (const item of items) {
		if (held !== null) yield [held.item, item];
		held = { item };
	}
	if (held !== null) yield [held.item, undefined];
}

function writeRegion({ rows, merged, titles }: Region, blocks: Block[], budget: TextBudget): void {
	const push = (block: BodyBlock) => {
		budget.spend(block.text);
		blocks.push(block);
	};
	for (const text of titles) push({ kind: 'paragraph', text, page: null });
	const used = new Set<number>();
	for (const cells of rows) for (const [column, cell] of cells.entries()) if (cell !== '') used.add(column);
	let caption = titles.at(-1);
	const headers = rows.slice(0, countHeaders(rows));
	const header = headers.length === 0 ? null : joinHeaders(headers);
	const textOf = (cells: string[]) => rowText(cells.filter((_, column) => used.has(column)));
	const groups = groupRows(rows, headers.length, merged, used.size);
	let isStart = true;
	for (let index = headers.length; index < rows.length; index++) {
		const cells = rows[index] ?? [];
		if (groups.has(index)) {
			caption = onlyText(cells);
			push({ kind: 'paragraph', text: caption, page: null });
			isStart = true;
			continue;
		}
		const table = { header: header !== null, ...(caption === undefined ? {} : { caption }) };
		if (isStart && header !== null) push({ kind: 'row', text: textOf(header), page: null, table });
		push({ kind: 'row', text: textOf(cells), page: null, ...(isStart && header === null ? { table } : {}) });
		isStart = false;
	}
}

/**
 * The rows that name the rows after them: those of one merged cell. In a sheet without, those of one cell, if the table begins with
 * one and has several; a single one is an item without values.
 */
function groupRows(
	rows: readonly string[][],
	from: number,
	merged: ReadonlySet<number>,
	columnCount: number,
): ReadonlySet<number> {
	const marked = new Set<number>();
	const unmarked = new Set<number>();
	let areAllNames = columnCount > 2;
	for (let index = from; index < rows.length; index++) {
		const cells = rows[index] ?? [];
		if (countFilled(cells) !== 1) continue;
		const isFollowed = countFilled(rows[index + 1] ?? []) > 1;
		if (merged.has(index) && isFollowed) marked.add(index);
		else if (cells[0] !== '') {
			areAllNames &&= isFollowed && isName(cells[0] ?? '');
			unmarked.add(index);
		}
	}
	if (marked.size > 0) return marked;
	return areAllNames && unmarked.has(from) && unmarked.size > 1 ? unmarked : new Set();
}

/**
 * The number of rows that name the columns. A second one does if names of the first stand over several columns, and it divides only
 * those.
 */
function countHeaders(rows: readonly string[][]): 0 | 1 | 2 {
	const [first, second, third] = rows;
	if (first === undefined || second === undefined || !isHeader(first) || looksLikePairs(rows)) return 0;
	if (third === undefined || !isHeader(second)) return 1;
	let divided = 0;
	for (let column = 0; column < Math.max(first.length, second.length); column++) {
		const [name = '', below = ''] = [first[column], second[column]];
		const isShared = name !== '' && (name === first[column - 1] || name === first[column + 1]);
		if (isShared && below !== '' && below !== name) divided++;
		else if (below !== '' && below !== name) return 1;
	}
	return divided > 1 ? 2 : 1;
}

function isHeader(cells: readonly string[]): boolean {
	const names = cells.filter((cell) => cell !== '');
	return names.length > 1 && names.every(isName);
}

/** Whether a row after a blank one names other columns than the table before: a value stands under one of its names. */
function isOtherHeader(cells: string[], next: string[] | undefined, { hasValues }: Region): boolean {
	if (next === undefined || !hasValues || !isHeader(cells)) return false;
	return next.some((cell, column) => isValue(cell) && cells[column] !== undefined && !isValue(cells[column] ?? ''));
}

function countFilled(cells: readonly string[]): number {
	return cells.filter((cell) => cell !== '').length;
}

function withoutEmptyEnd(cells: string[]): string[] {
	let end = cells.length;
	while (end > 0 && cells[end - 1] === '') end--;
	return end === cells.length ? cells : cells.slice(0, end);
}
