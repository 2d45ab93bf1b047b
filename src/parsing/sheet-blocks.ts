import { type Block, type BodyBlock, toSingleLine } from './blocks.ts';
import { resourceLimit, type TextBudget } from './limits.ts';
import { isName, isValue, joinHeaders, looksLikePairs, rowText } from './table-blocks.ts';

/** The maximum number of cells of a file, empty ones between others included. 10 MB of text have fewer. */
export const MAX_CELLS = 2_000_000;
/** Rows from whose blank ones it is decided whether all rows of a sheet are double-spaced. */
const SPACING_SAMPLE_ROWS = 40;
const MIN_SPACED_ROWS = 3;

/** Rows that are read before the first ones are written, to find the columns that have text. */
interface Region {
	rows: string[][];
	/** Whether a row after the first one has a value. */
	hasValues: boolean;
	/** The lines above the table, each in one cell. The last one names the table. */
	titles: string[];
}

/**
 * The blocks of a sheet: rows of cells without any mark. A blank row ends a table only if the next row is a title or names the
 * columns of the row after it. A single cell above a table is its caption. Single cells within a table name the rows after them if
 * the table begins with one and has several.
 */
export function sheetBlocks(rows: Iterable<string[]>, budget: TextBudget): Block[] {
	const blocks: Block[] = [];
	let region: Region = { rows: [], hasValues: false, titles: [] };
	let isAfterBlank = false;
	const end = () => {
		writeRegion(region, blocks, budget);
		region = { rows: [], hasValues: false, titles: [] };
	};
	for (const [row, next] of withNext(withoutDoubleSpacing(trimmedRows(rows)))) {
		const filled = countFilled(row);
		if (filled === 0) {
			isAfterBlank = true;
			continue;
		}
		const isTitle = filled === 1 && (region.rows.length === 0 || isAfterBlank);
		const startsTable = isAfterBlank && region.rows.length > 0 && (isTitle || isOtherHeader(row, next, region));
		if (startsTable) end();
		if (isTitle) region.titles.push(row.find((cell) => cell !== '') ?? '');
		else {
			region.hasValues ||= region.rows.length > 0 && row.some(isValue);
			region.rows.push(row);
		}
		isAfterBlank = false;
	}
	end();
	return blocks;
}

const TOO_MANY_CELLS = `The file has more than ${MAX_CELLS.toLocaleString('en')} cells. Split it into smaller files.`;

/** The rows with each cell on one line, without empty cells at their end. */
function* trimmedRows(rows: Iterable<string[]>): Generator<string[]> {
	let cells = 0;
	for (const row of rows) {
		cells += row.length + 1;
		if (cells > MAX_CELLS) throw resourceLimit(TOO_MANY_CELLS);
		yield withoutEmptyEnd(row.map(toSingleLine));
	}
}

/** Leaves out blank rows if each row of the sheet is followed by one: then they separate nothing. */
function* withoutDoubleSpacing(rows: Iterable<string[]>): Generator<string[]> {
	const sample: string[][] = [];
	let isSpaced: boolean | null = null;
	for (const row of rows) {
		if (isSpaced === null) {
			sample.push(row);
			if (sample.length < SPACING_SAMPLE_ROWS) continue;
			isSpaced = isDoubleSpaced(sample);
			for (const row of sample) if (!isSpaced || row.length > 0) yield row;
		} else if (!isSpaced || row.length > 0) yield row;
	}
	if (isSpaced !== null) return;
	isSpaced = isDoubleSpaced(sample);
	for (const row of sample) if (!isSpaced || row.length > 0) yield row;
}

function isDoubleSpaced(rows: readonly string[][]): boolean {
	const isFilled = rows.map((row) => row.length > 0);
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

function writeRegion({ rows, titles }: Region, blocks: Block[], budget: TextBudget): void {
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
	const groups = used.size > 2 ? groupRows(rows, headers.length) : new Set<number>();
	let isStart = true;
	for (let index = headers.length; index < rows.length; index++) {
		const cells = rows[index] ?? [];
		if (groups.has(index)) {
			caption = cells[0];
			push({ kind: 'paragraph', text: cells[0] ?? '', page: null });
			isStart = true;
			continue;
		}
		const table = { header: header !== null, ...(caption === undefined ? {} : { caption }) };
		if (isStart && header !== null) push({ kind: 'row', text: textOf(header), page: null, table });
		push({ kind: 'row', text: textOf(cells), page: null, ...(isStart && header === null ? { table } : {}) });
		isStart = false;
	}
}

/** The rows that name the rows after them. A single row with one cell is an item without values. */
function groupRows(rows: readonly string[][], from: number): Set<number> {
	const groups = new Set<number>();
	for (let index = from; index < rows.length; index++) {
		const cells = rows[index] ?? [];
		if (cells[0] === '' || countFilled(cells) !== 1) continue;
		const isFollowed = countFilled(rows[index + 1] ?? []) > 1;
		if (!isFollowed || !isName(cells[0] ?? '')) return new Set();
		groups.add(index);
	}
	return groups.has(from) && groups.size > 1 ? groups : new Set();
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
