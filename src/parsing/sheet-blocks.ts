import { type Block, type BodyBlock, toSingleLine } from './blocks.ts';
import { resourceLimit, type TextBudget } from './limits.ts';
import { rowText } from './table-blocks.ts';

/** The maximum number of cells of a file, empty ones between others included. 10 MB of text have fewer. */
export const MAX_CELLS = 2_000_000;

/** Rows that are read before the first ones are written, to find the columns that have text. */
interface Region {
	rows: string[][];
	/** The lines above the table, each in one cell. The last one names the table. */
	titles: string[];
}

/**
 * The blocks of a sheet: rows of cells without any mark. A blank row ends a table only if the next row looks like another
 * header. A single cell above a table is its caption, and one within it names the rows after it.
 */
export function sheetBlocks(rows: Iterable<string[]>, budget: TextBudget): Block[] {
	const blocks: Block[] = [];
	let cells = 0;
	let region: Region = { rows: [], titles: [] };
	let isAfterBlank = false;
	const end = () => {
		writeRegion(region, blocks, budget);
		region = { rows: [], titles: [] };
	};
	for (const row of rows) {
		cells += row.length + 1;
		if (cells > MAX_CELLS) throw resourceLimit(TOO_MANY_CELLS);
		const trimmed = withoutEmptyEnd(row.map(toSingleLine));
		const filled = countFilled(trimmed);
		if (filled === 0) {
			isAfterBlank = true;
			continue;
		}
		const isTitle = filled === 1 && (region.rows.length === 0 || isAfterBlank);
		const startsTable = isAfterBlank && region.rows.length > 0 && (isTitle || isOtherHeader(trimmed, region));
		if (startsTable) end();
		if (isTitle) region.titles.push(trimmed.find((cell) => cell !== '') ?? '');
		else region.rows.push(trimmed);
		isAfterBlank = false;
	}
	end();
	return blocks;
}

const TOO_MANY_CELLS = `The file has more than ${MAX_CELLS.toLocaleString('en')} cells. Split it into smaller files.`;

function writeRegion({ rows, titles }: Region, blocks: Block[], budget: TextBudget): void {
	const push = (block: BodyBlock) => {
		budget.spend(block.text);
		blocks.push(block);
	};
	for (const text of titles) push({ kind: 'paragraph', text, page: null });
	const used = new Set<number>();
	for (const cells of rows) for (const [column, cell] of cells.entries()) if (cell !== '') used.add(column);
	let caption = titles.at(-1);
	const first = rows[0];
	const header = first !== undefined && rows.length > 1 && isHeader(first) ? first : null;
	const textOf = (cells: string[]) => rowText(cells.filter((_, column) => used.has(column)));
	let isStart = true;
	for (const [index, cells] of rows.entries()) {
		if (index === 0 && header !== null) continue;
		const next = rows[index + 1];
		if (used.size > 2 && countFilled(cells) === 1 && cells[0] !== '' && next !== undefined && countFilled(next) > 1) {
			// The name of a group of rows.
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

/** Column names are texts; values are numbers, dates and amounts. A year may name a column. */
function isHeader(cells: readonly string[]): boolean {
	const names = cells.filter((cell) => cell !== '');
	return names.length > 1 && names.every((cell) => !isValue(cell) || /^(?:19|20)\d\d$/.test(cell));
}

function isValue(cell: string): boolean {
	return /\p{Nd}/u.test(cell) && !/\p{L}{2}/u.test(cell);
}

/** Whether a row after a blank one names other columns than the table before. */
function isOtherHeader(cells: string[], { rows }: Region): boolean {
	const [first] = rows;
	return first !== undefined && isHeader(cells) && rows.slice(1).some((row) => row.some(isValue));
}

function countFilled(cells: readonly string[]): number {
	return cells.filter((cell) => cell !== '').length;
}

function withoutEmptyEnd(cells: string[]): string[] {
	let end = cells.length;
	while (end > 0 && cells[end - 1] === '') end--;
	return end === cells.length ? cells : cells.slice(0, end);
}
