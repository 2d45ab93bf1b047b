import type { BodyBlock } from './blocks.ts';
import { rowText } from './table-blocks.ts';

/** The lines of a paragraph, as they are written. */
export type Paragraph = readonly string[];

/** A line that begins a list item: a bullet, or a number or letter with a dot or bracket. */
const LIST_ITEM = /^\s*(?:[-*+•▪◦‣·●○■–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S/u;
/** Shorter lines were broken intentionally: verse, addresses, columns. */
const MIN_WRAPPED_CHARACTERS = 45;
/** A name and its value. An address of the web is none. */
export const KEY_AND_VALUE = /^\s*\p{L}[^:.?!|]{0,40}:\s+\S/u;
const MIN_INDENT = 2;
/** What separates the columns of a line: a tab, spaces, or a leader of dots. */
const COLUMN_GAP = /[ \t]{2,}|\t|\.{4,}|(?: \.){3,}/;
const MAX_COLUMNS = 12;

/** The blocks of a paragraph: a table, a list, entries with hanging indents, or text. */
export function paragraphBlocks(lines: Paragraph): BodyBlock[] {
	return lines.length === 0 ? [] : (tableOf(lines) ?? listOf(lines) ?? entriesOf(lines) ?? textOf(lines));
}

/** The rows of aligned columns; null if the lines are not a table. A line that begins in the second column continues the row above. */
function tableOf(lines: Paragraph): BodyBlock[] | null {
	const rows: string[][] = [];
	const secondColumn = lines[0]?.trimStart().search(COLUMN_GAP) ?? 0;
	for (const line of lines) {
		const cells = cellsOf(line);
		const last = rows.at(-1);
		if (cells.length === 1 && last !== undefined && indentOf(line) > secondColumn) {
			last.push(`${last.pop() ?? ''} ${cells[0] ?? ''}`);
		} else if (cells.length < 2 || cells.length > MAX_COLUMNS) return null;
		else rows.push(cells);
	}
	const [first = []] = rows;
	if (rows.length < 2 || rows.some((row) => row.length !== first.length)) return null;
	// A list whose markers stand apart, and prose with wide spaces.
	if (first.length === 2 && rows.every(([marker = '']) => LIST_ITEM.test(`${marker} a`))) return null;
	if (first.length === 2 && !isAligned(lines)) return null;
	const header = first.length > 2 && first.every((cell) => !/\p{Nd}/u.test(cell));
	return rows.map((cells, index) => ({
		kind: 'row',
		text: rowText(cells),
		page: null,
		...(index === 0 ? { table: { header } } : {}),
	}));
}

function cellsOf(line: string): string[] {
	const cells = line.split(COLUMN_GAP, 2 * MAX_COLUMNS + 2).map(singleSpaced);
	return cells.filter((cell) => cell !== '');
}

/** Whether the second columns of lines begin at the same place, or after tabs or dots. */
function isAligned(lines: Paragraph): boolean {
	const found = lines.map((line) => COLUMN_GAP.exec(line.trim()));
	const gaps = found.filter((gap) => gap !== null);
	const edges = new Set(gaps.map((gap) => gap.index + gap[0].length));
	return edges.size === 1 || gaps.every((gap) => /[.\t]/.test(gap[0]));
}

/** The items of a list, and the text before them; null if there are none. */
function listOf(lines: Paragraph): BodyBlock[] | null {
	const starts = lines.flatMap((line, index) => (LIST_ITEM.test(line) ? [index] : []));
	// One line that looks like an item may be a wrapped sentence that continues with "1990. " or a dash.
	if (starts.length === 0 || (starts.length < 2 && starts[0] !== 0)) return null;
	return [...textOf(lines.slice(0, starts[0])), ...itemsAt(lines, starts)];
}

/**
 * Entries: lines at the margin, each with indented lines below it. Where the first lines of paragraphs are indented, the paragraphs.
 * Null if the indents mean nothing.
 */
function entriesOf(lines: Paragraph): BodyBlock[] | null {
	const indents = lines.map(indentOf);
	const margin = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
	const atMargin = indents.flatMap((indent, index) => (indent === margin ? [index] : []));
	const indented = indents.flatMap((indent, index) => (indent >= margin + MIN_INDENT ? [index] : []));
	if (indented.length === 0 || indented.length + atMargin.length < lines.length) return null;
	if (indented[0] === 0) {
		const isProse =
			indented.length > 1 &&
			atMargin.length > 1 &&
			atMargin.some((index) => (lines[index]?.length ?? 0) >= MIN_WRAPPED_CHARACTERS);
		return isProse ? indented.flatMap((start, index) => textOf(lines.slice(start, indented[index + 1]))) : null;
	}
	return atMargin.length < 2 ? null : itemsAt(lines, atMargin);
}

function itemsAt(lines: Paragraph, starts: readonly number[]): BodyBlock[] {
	return starts.map((start, index) => ({
		kind: 'item',
		text: joinLines(lines.slice(start, starts[index + 1])),
		page: null,
	}));
}

function textOf(lines: Paragraph): BodyBlock[] {
	return lines.length === 0 ? [] : [{ kind: 'paragraph', text: joinLines(lines), page: null }];
}

/** Joins wrapped lines; short lines, and lines of names and values, stay separate. */
function joinLines(lines: Paragraph): string {
	const keys = lines.filter((line) => KEY_AND_VALUE.test(line)).length;
	if (keys > 1 && keys >= lines.length / 2) return joinValues(lines);
	const trimmed = lines.map(singleSpaced);
	const full = trimmed.slice(0, -1);
	const wrapped = full.length > 0 && full.every((line) => line.length >= MIN_WRAPPED_CHARACTERS);
	return trimmed.join(wrapped ? ' ' : '\n');
}

/** Joins the wrapped lines of each value: a line was wrapped if it is about as long as the longest. */
function joinValues(lines: Paragraph): string {
	const longest = lines.reduce((length, line) => Math.max(length, line.trim().length), 0);
	const isWrapped = (line = '') => line.trim().length >= Math.max(MIN_WRAPPED_CHARACTERS, 0.7 * longest);
	return lines
		.map((line, index) => {
			const separator = !KEY_AND_VALUE.test(line) && isWrapped(lines[index - 1]) ? ' ' : '\n';
			return (index === 0 ? '' : separator) + singleSpaced(line);
		})
		.join('');
}

function singleSpaced(line: string): string {
	return line.trim().replace(/\s+/gu, ' ');
}

function indentOf(line: string): number {
	return line.replace(/\t/g, '    ').search(/\S/);
}
