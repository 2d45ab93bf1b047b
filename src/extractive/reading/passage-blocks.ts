import { areColumnNames } from './column-names.ts';

/** A block of a passage: prose, or a form that is quoted as a whole or by line. */
export type PassageBlock =
	| { kind: 'prose'; lines: string[] }
	| { kind: 'heading'; text: string }
	| { kind: 'list'; items: ListItem[] }
	| { kind: 'table'; header: string[] | null; rows: string[][] }
	| { kind: 'code'; language: string; lines: string[] };

export interface ListItem {
	/** The number of the item; null with a bullet. */
	number: number | null;
	/** 0 for the outermost level. */
	depth: number;
	text: string;
}

const CODE_FENCE = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^#{1,6}\s+(\S.*)$/;
const LIST_ITEM = /^(\s*)(?:[-*+•‣◦–▪·●]|(\d{1,3})[.)]|\((\d{1,3})\))\s+(\S.*)$/;
/** The line under a table's header. */
const TABLE_RULE = /^\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?$/;

/** Splits a text into blocks, by its Markdown where it has any, otherwise by its lines. */
export function parsePassageBlocks(text: string): PassageBlock[] {
	const lines = text.split(/\r\n|\r|\n/);
	const blocks: PassageBlock[] = [];
	for (let at = 0; at < lines.length; ) {
		const line = lines[at] as string;
		if (line.trim() === '') at++;
		else
			at =
				readCode(lines, at, blocks) ??
				readHeading(line, at, blocks) ??
				readList(lines, at, blocks) ??
				readTable(lines, at, blocks) ??
				readProse(lines, at, blocks);
	}
	return blocks;
}

function readCode(lines: string[], at: number, blocks: PassageBlock[]): number | null {
	const open = CODE_FENCE.exec(lines[at] as string);
	if (!open) return null;
	const fence = open[1] as string;
	let end = at + 1;
	while (end < lines.length && !(lines[end] as string).trim().startsWith(fence)) end++;
	blocks.push({ kind: 'code', language: open[2] ?? '', lines: lines.slice(at + 1, end) });
	return end + 1;
}

function readHeading(line: string, at: number, blocks: PassageBlock[]): number | null {
	const match = HEADING.exec(line);
	if (!match) return null;
	blocks.push({ kind: 'heading', text: (match[1] as string).replace(/\s#+\s*$/, '') });
	return at + 1;
}

function readList(lines: string[], at: number, blocks: PassageBlock[]): number | null {
	if (!LIST_ITEM.test(lines[at] as string)) return null;
	const items: ListItem[] = [];
	const outermost = indentOf(lines[at] as string);
	let end = at;
	for (; end < lines.length; end++) {
		const line = lines[end] as string;
		const match = LIST_ITEM.exec(line);
		if (match) {
			const number = match[2] ?? match[3];
			const depth = indentOf(line) > outermost + 1 ? 1 : 0;
			items.push({ number: number === undefined ? null : Number(number), depth, text: match[4] as string });
		} else if (line.trim() === '') {
			// Blank lines may separate items. Text after a blank line belongs to the list only if it is indented.
			const next = lines[end + 1];
			if (next === undefined || !LIST_ITEM.test(next)) break;
		} else if (CODE_FENCE.test(line) || HEADING.test(line)) break;
		else (items.at(-1) as ListItem).text += ` ${line.trim()}`;
	}
	blocks.push({ kind: 'list', items });
	return end;
}

function readTable(lines: string[], at: number, blocks: PassageBlock[]): number | null {
	let end = at;
	while (end < lines.length && (isRow(lines[end]) || isRule(lines[end]))) end++;
	const count = end - at;
	// A single bar in a single line is punctuation.
	if (count < 2) return null;
	const hasRule = isRule(lines[at + 1]);
	const texts = lines.slice(at, end).map((line) => line.trim());
	// Bars around every row are its frame. Where only some rows have one, it marks an empty cell.
	const hasLeft = texts.every((text) => text.startsWith('|') || isRule(text));
	const hasRight = texts.every((text) => /(?<!\\)\|$/.test(text) || isRule(text));
	const rows = texts.filter((text) => !isRule(text)).map((text) => cellsOf(text, hasLeft, hasRight));
	const [first, ...rest] = rows;
	if (first === undefined) return null;
	// Chunks have the header of a table as their first row, without a mark. It is recognised by a rule below it, by an empty corner
	// above the names of the rows, by its words, or by figures below it. A first row of names and places may be data.
	const corner = first.findIndex((cell) => cell !== '');
	const hasCorner = corner > 0 && first.slice(corner).every((cell) => cell !== '');
	const hasNames = hasCorner ? rest.some((row) => row[0] !== '') : first.length > 2 && areColumnNames(first);
	const hasHeader = hasRule || ((hasNames || differsFromRows(first, rest)) && rest.length > 0);
	blocks.push(hasHeader ? { kind: 'table', header: first, rows: rest } : { kind: 'table', header: null, rows });
	return end;
}

function readProse(lines: string[], at: number, blocks: PassageBlock[]): number {
	let end = at + 1;
	while (end < lines.length) {
		const line = lines[end] as string;
		if (line.trim() === '' || CODE_FENCE.test(line) || HEADING.test(line) || LIST_ITEM.test(line)) break;
		if (isRow(line) && (isRow(lines[end + 1]) || isRule(lines[end + 1]))) break;
		end++;
	}
	blocks.push({ kind: 'prose', lines: joinWrapped(lines.slice(at, end)) });
	return end;
}

/** A shorter line was broken on purpose: an address, a list of names and numbers. */
const MIN_WRAPPED_CHARACTERS = 45;
const LINE_ENDING = /[.!?:;。！？：؟…]["'”’»)\]」』]*$/u;
const UNSPACED_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。]$/u;
const UNSPACED_START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Joins the lines of a paragraph that the width of a page broke. Scripts without spaces are joined without one. */
function joinWrapped(lines: string[]): string[] {
	const joined: string[] = [];
	let isOpen = false;
	for (const raw of lines) {
		const line = raw.trim();
		const previous = joined.at(-1);
		if (previous !== undefined && isOpen && !isKeyLine(line)) {
			const separator = UNSPACED_END.test(previous) && UNSPACED_START.test(line) ? '' : ' ';
			joined[joined.length - 1] = previous + separator + line;
		} else joined.push(line);
		isOpen =
			(line.length >= MIN_WRAPPED_CHARACTERS || UNSPACED_END.test(line)) &&
			!LINE_ENDING.test(line) &&
			!isKeyLine(joined.at(-1) as string);
	}
	return joined;
}

/** `Telephone: 01632 960 142`. The key is a few words without an end of a sentence. */
const KEY_LINE = /^([^:：\n]{1,70}?)\s?(?::\s|：)\s*(\S.*)$/u;
const MAX_KEY_WORDS = 9;

/** Before a key of a few words in the middle of a line: `… two people at most Phone: 01632`. */
const NEXT_KEY = /(?<=[\p{Ll}\p{N})]) (?=\p{Lu}[\p{Ll}'’-]+(?: (?:\p{Ll}[\p{L}'’-]*|\([^()]{1,30}\))){0,4} ?: )/u;

/** The lines of a key line into which an extraction has joined the lines after it. */
export function splitJoinedKeyLines(line: string): string[] {
	if (!isKeyLine(line)) return [line];
	const [first = '', second, ...others] = line.split(NEXT_KEY);
	// `24 December: closed` is one line.
	return second === undefined || isKeyLine(first)
		? [first, ...(second === undefined ? [] : [second]), ...others]
		: [`${first} ${second}`, ...others];
}

/** The two sides of a line with a key; null for any other line. */
export function splitKeyLine(line: string): { key: string; value: string } | null {
	const match = KEY_LINE.exec(line);
	if (!match) return null;
	const [, key, value] = match as unknown as [string, string, string];
	if (/[.!?]\s/u.test(key) || key.split(/\s+/).length > MAX_KEY_WORDS) return null;
	return { key, value };
}

function isKeyLine(line: string): boolean {
	return splitKeyLine(line) !== null;
}

function cellsOf(row: string, hasLeft: boolean, hasRight: boolean): string[] {
	const bare = row.slice(hasLeft && row.startsWith('|') ? 1 : 0, hasRight && row.endsWith('|') ? -1 : undefined);
	return bare.split(/(?<!\\)\||\t+/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Cells are separated by vertical bars or tabs. A cell at either end may be empty. */
function isRow(line: string | undefined): boolean {
	const text = line?.trim() ?? '';
	return text.length > 1 && /[|\t]/.test(text);
}

function isRule(line: string | undefined): boolean {
	return line !== undefined && TABLE_RULE.test(line.trim());
}

/** Whether a first row without figures stands above a column of figures. */
function differsFromRows(first: readonly string[], rest: readonly string[][]): boolean {
	if (first.length < 2 || first.some((cell) => cell === '' || hasFigure(cell))) return false;
	return first.some((_, column) => rest.filter((row) => hasFigure(row[column] ?? '')).length * 2 > rest.length);
}

function hasFigure(cell: string): boolean {
	return /\p{Nd}/u.test(cell);
}

function indentOf(line: string): number {
	return line.length - line.trimStart().length;
}
