import type { Block } from './blocks.ts';
import type { HeadingLevelOf } from './pdf-headings.ts';
import type { Line } from './pdf-lines.ts';
import { tableAt } from './pdf-tables.ts';

/** A larger gap between lines, in font sizes, begins a paragraph. */
const PARAGRAPH_GAP = 1.75;
const BULLETED_ITEM = /^[•▪◦‣●○■–—*·-]\s+\S/u;
const NUMBERED_ITEM = /^\(?(?:\d{1,3}|[a-z])[.)]\s+\S/i;

/** The length of the end of a text that may have a divided word. */
const TAIL_CHARACTERS = 60;

/** The block that is being written. Its text is kept in parts and joined once, not with every line. */
interface OpenBlock {
	block: Block;
	parts: string[];
	/** The end of the text so far. */
	tail: string;
	last: Line;
	level: number | null;
}

function finishBlock({ block, parts }: OpenBlock): void {
	block.text = parts.join('');
}

/** Joins lines into headings, paragraphs, list items and rows of tables, in reading order. */
export function linesToBlocks(lines: Line[], levelOf: HeadingLevelOf): Block[] {
	const columnWidth = columnWidths(lines);
	const dehyphenator = new Dehyphenator(lines);
	const blocks: Block[] = [];
	let open = null as OpenBlock | null;
	/** The last numbered item. */
	let step: Step | null = null;
	for (let index = 0; index < lines.length; index++) {
		const line = lines[index] as Line;
		const table = tableAt(lines, index, levelOf);
		if (table !== null) {
			if (open !== null) finishBlock(open);
			open = null;
			for (const row of table.rows) blocks.push(row);
			index = table.end - 1;
			continue;
		}
		const level = levelOf(line);
		const isNext: boolean = isNextStep(line, step);
		const item: boolean = level === null && (isNext || beginsItem(line, open?.last, columnWidth));
		if (item) step = stepOf(line) ?? step;
		if (open !== null && open.level === level && !item && continues(open.last, line, columnWidth)) {
			dehyphenator.join(open, line.text, level !== null || isWrapped(open.last, line, columnWidth));
			open.last = line;
			continue;
		}
		if (open !== null) finishBlock(open);
		const { text, page } = line;
		const block: Block =
			level === null ? { kind: item ? 'item' : 'paragraph', text, page } : { kind: 'heading', level, text, page };
		blocks.push(block);
		open = { block, parts: [text], tail: text.slice(-TAIL_CHARACTERS), last: line, level };
	}
	if (open !== null) finishBlock(open);
	return blocks;
}

/** A numbered item. */
interface Step {
	number: number;
	left: number;
}

function stepOf({ text, left }: Line): Step | null {
	const number = /^\(?(\d{1,3})[.)]\s+\S/.exec(text)?.[1];
	return number === undefined ? null : { number: Number(number), left };
}

/** Whether a line begins with the number after that of the last item, at the same edge. */
function isNextStep(line: Line, step: Step | null): boolean {
	const next = stepOf(line);
	return step !== null && next?.number === step.number + 1 && Math.abs(next.left - step.left) < 0.5 * line.size;
}

/** A number at the beginning of a line may be the end of a wrapped sentence ("in / 1990. "); a bullet cannot. */
function beginsItem(line: Line, before: Line | undefined, columns: ColumnWidth): boolean {
	return BULLETED_ITEM.test(line.text) || (NUMBERED_ITEM.test(line.text) && !isWrapped(before, line, columns));
}

/** The width of text of the same size on the same page. A line that was broken although the next word fits was broken intentionally. */
type ColumnWidth = (line: Line) => number;

function columnWidths(lines: Line[]): ColumnWidth {
	const widths = new Map<string, number>();
	const key = (line: Line) => `${line.page} ${Math.round(line.size)} ${Math.round(line.left / 40)}`;
	for (const line of lines) widths.set(key(line), Math.max(widths.get(key(line)) ?? 0, line.right - line.left));
	return (line) => widths.get(key(line)) ?? 0;
}

/** Whether a line was broken because the first word of the next line did not fit. */
function isWrapped(line: Line | undefined, next: Line, columns: ColumnWidth): boolean {
	if (line === undefined) return false;
	const width = line.right - line.left;
	const character = width / Math.max(1, line.text.length);
	const word = (next.text.indexOf(' ') === -1 ? next.text.length : next.text.indexOf(' ')) * character;
	return width + word + 1.5 * line.size >= Math.max(columns(line), columns(next));
}

function continues(line: Line, next: Line, columns: ColumnWidth): boolean {
	const size = Math.max(line.size, next.size);
	if (line.standsAlone || next.standsAlone) return false;
	if (line.isUpright !== next.isUpright || Math.abs(line.size - next.size) > 0.15 * size) return false;
	const gap = line.baseline - next.baseline;
	if (line.page === next.page && gap > 0.3 * size && gap < PARAGRAPH_GAP * size) {
		const indented = next.left - line.left > size && next.left - line.left < 4 * size;
		return (
			!(indented && /[.!?:"”»]$/.test(line.text)) && (isWrapped(line, next, columns) || !/[.!?:]$/.test(line.text))
		);
	}
	// Across a page or column break, lines are joined only if a sentence clearly continues.
	return isWrapped(line, next, columns) && /[\p{L},;-]$/u.test(line.text) && /^\p{Ll}/u.test(next.text);
}

/** Joins words that were divided at the end of a line, unless the document has them with a hyphen elsewhere. */
class Dehyphenator {
	readonly #lines: Line[];
	#words: Set<string> | null = null;

	constructor(lines: Line[]) {
		this.#lines = lines;
	}

	join(open: Pick<OpenBlock, 'parts' | 'tail'>, after: string, wrapped: boolean): void {
		const separator = wrapped ? this.#separatorOf(open, after) : '\n';
		open.parts.push(separator, after);
		open.tail = (open.tail + separator + after.slice(-TAIL_CHARACTERS)).slice(-TAIL_CHARACTERS);
	}

	/** The separator between two lines of a paragraph. Removes the hyphen of a divided word. */
	#separatorOf(open: Pick<OpenBlock, 'parts' | 'tail'>, after: string): '' | ' ' {
		const first = /(\p{L}+)[-\u2010]$/u.exec(open.tail)?.[1];
		const second = /^\p{Ll}\p{L}*/u.exec(after)?.[0];
		if (first === undefined || second === undefined) return ' ';
		if (this.#isHyphenated(first, second)) return '';
		open.parts.push((open.parts.pop() ?? '').slice(0, -1));
		open.tail = open.tail.slice(0, -1);
		return '';
	}

	#isHyphenated(first: string, second: string): boolean {
		this.#words ??= new Set(this.#lines.flatMap((line) => line.text.toLowerCase().match(/\p{L}+(?:-\p{L}+)*/gu) ?? []));
		const joined = (first + second).toLowerCase();
		return !this.#words.has(joined) && this.#words.has(`${first}-${second}`.toLowerCase());
	}
}
