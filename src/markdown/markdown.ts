import { isSpace, parseInline } from './inline-markdown.ts';
import { element, MAX_DEPTH, type MarkdownElement, type MarkdownNode } from './markdown-nodes.ts';

export { type MarkdownElement, type MarkdownNode, plainText, type Tag } from './markdown-nodes.ts';

const CODE_FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})\s+/;
const THEMATIC_BREAK = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const BLOCK_QUOTE = /^ {0,3}> ?/;
/** Larger numbers do not start a list. */
const LIST_ITEM = /^( *)([-*+]|\d{1,4}[.)])(\s+|$)/;
/** Of a line without the spaces around it. */
const TABLE_RULE = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/;

/** The lines of a text or of a block, and the parser's position in them. */
interface Lines {
	lines_: string[];
	at_: number;
	depth_: number;
}

/**
 * Parses the Markdown that models write into nodes of a fixed set of elements. No input leads to other elements or to HTML. Text
 * that is still growing is readable at every length.
 */
export function parseMarkdown(text: string): MarkdownNode[] {
	return parseBlocks(text.replace(/\r\n?/g, '\n').split('\n'), 0);
}

function parseBlocks(lines: string[], depth: number): MarkdownNode[] {
	const found: MarkdownNode[] = [];
	const block: Lines = { lines_: lines, at_: 0, depth_: depth };
	while (!isAtEnd(block)) {
		const line = lineAt(block);
		if (line.trim() === '') block.at_++;
		else found.push(parseBlock(block, line));
	}
	return found;
}

const isAtEnd = ({ lines_, at_ }: Lines) => at_ >= lines_.length;

/** The line at the position, or after it. Tabs count as spaces in indentation. In code they stay tabs. */
const lineAt = ({ lines_, at_ }: Lines, offset = 0) =>
	(lines_[at_ + offset] ?? '').replace(/^[ \t]+/, (space) => space.replace(/\t/g, '    '));

/** The next lines, as they are, while the condition holds. */
function takeWhile(block: Lines, isOf: (line: string) => boolean): string[] {
	const from = block.at_;
	while (!isAtEnd(block) && isOf(lineAt(block))) block.at_++;
	return block.lines_.slice(from, block.at_);
}

/** Parses the block that the line starts. */
function parseBlock(block: Lines, line: string): MarkdownNode {
	const fence = CODE_FENCE.exec(line)?.[1];
	if (fence) return parseCodeBlock(block, fence);
	const heading = HEADING.exec(line);
	if (heading) {
		block.at_++;
		const [begin, marks = ''] = heading;
		return element(marks.length < 3 ? 'h3' : 'h4', parseInline(headingTextOf(line.slice(begin.length))));
	}
	if (THEMATIC_BREAK.test(line)) {
		block.at_++;
		return element('hr', []);
	}
	if (block.depth_ < MAX_DEPTH) {
		if (BLOCK_QUOTE.test(line)) {
			const quoted = takeWhile(block, (text) => BLOCK_QUOTE.test(text)).map((text) => text.replace(BLOCK_QUOTE, ''));
			return element('blockquote', parseBlocks(quoted, block.depth_ + 1));
		}
		const item = LIST_ITEM.exec(line);
		if (item) return parseList(block, item);
	}
	return startsTable(block) ? parseTable(block, line) : parseParagraph(block);
}

function parseCodeBlock(block: Lines, fence: string): MarkdownElement {
	block.at_++;
	const end = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
	const code = takeWhile(block, (text) => !end.test(text)).join('\n');
	block.at_++;
	return element('pre', [code]);
}

const startsTable = (block: Lines) => lineAt(block).includes('|') && TABLE_RULE.test(lineAt(block, 1).trim());

function parseTable(block: Lines, line: string): MarkdownElement {
	block.at_ += 2;
	const rows = takeWhile(block, (text) => text.includes('|')).map((text) => row(text, 'td'));
	return element('table', [row(line, 'th'), ...rows]);
}

function parseParagraph(block: Lines): MarkdownElement {
	const from = block.at_++;
	takeWhile(block, (text) => text.trim() !== '' && !startsBlock(text) && !startsTable(block));
	return element('p', parseInline(block.lines_.slice(from, block.at_).join('\n').trim()));
}

function parseList(block: Lines, [, indent = '', mark = '']: RegExpExecArray): MarkdownElement {
	const ordered = mark.length > 1;
	const items: MarkdownElement[] = [];
	while (!isAtEnd(block)) {
		const line = lineAt(block);
		const begin = LIST_ITEM.exec(line);
		if (!begin || (begin[1] as string).length !== indent.length || THEMATIC_BREAK.test(line)) break;
		if ((begin[2] as string).length > 1 !== ordered) break;
		const inner = parseBlocks(takeItem(block, begin), block.depth_ + 1);
		const only = inner[0];
		// The text of an item is not wrapped in a paragraph.
		const tight = typeof only === 'object' && only.tag === 'p' ? [...only.children, ...inner.slice(1)] : inner;
		items.push(element('li', tight));
		// Blank lines between items.
		while (block.at_ < block.lines_.length - 1 && lineAt(block).trim() === '' && LIST_ITEM.test(lineAt(block, 1)))
			block.at_++;
	}
	return ordered ? element('ol', items, { number: Number.parseInt(mark, 10) }) : element('ul', items);
}

/** The lines of a list item, without their indentation. */
function takeItem(block: Lines, [begin, space = '', mark = '']: RegExpExecArray): string[] {
	const indent = space.length;
	const width = Math.min(begin.length, indent + mark.length + 4);
	const body = [lineAt(block).slice(width)];
	for (block.at_++; !isAtEnd(block); block.at_++) {
		const text = lineAt(block);
		const spaces = indentOf(text);
		if (text.trim() === '') {
			// A blank line belongs to the item only if more of the item follows.
			const next = lineAt(block, 1);
			if (next.trim() === '' || indentOf(next) <= indent) break;
		} else if (spaces <= indent && startsBlock(text)) break;
		body.push(text.slice(Math.min(spaces, width)));
	}
	return body;
}

const indentOf = (line: string) => line.length - line.trimStart().length;

function startsBlock(line: string): boolean {
	return [CODE_FENCE, HEADING, THEMATIC_BREAK, BLOCK_QUOTE, LIST_ITEM].some((start) => start.test(line));
}

/** Removes the closing marks of a heading. The mark of a word such as C# stays. */
function headingTextOf(text: string): string {
	const title = text.trim();
	let end = title.length;
	while (title[end - 1] === '#') end--;
	return end === 0 || isSpace(title[end - 1]) ? title.slice(0, end).trim() : title;
}

function row(line: string, tag: 'th' | 'td'): MarkdownElement {
	const cells = line
		.trim()
		.replace(/^\||\|$/g, '')
		.split(/(?<!\\)\|/);
	return element(
		'tr',
		cells.map((cell) => element(tag, parseInline(cell.trim().replace(/\\\|/g, '|')))),
	);
}
