import { type Block, toSingleLine } from './blocks.ts';
import { type DomElement, type DomNode, isElement, isText } from './html-dom.ts';
import { isInvisible, isWithoutSpace } from './html-visibility.ts';
import { type TableRow, tableBlocks } from './table-blocks.ts';
import { looksLikeHeader, markHeaders } from './table-headers.ts';

/** A table without headings is a layout table if a cell has one of these. */
const LAYOUT_ELEMENTS = new Set('TABLE H1 H2 H3 H4 H5 H6 UL OL DL PRE FORM SECTION ARTICLE BLOCKQUOTE'.split(' '));
/** A table with headings is a layout table only with longer cells. */
const MAX_CELL_CHARACTERS = 2000;
/** HTML Living Standard, 4.9.11: a longer span is a mistake. */
const MAX_ROW_SPAN = 65_534;

/**
 * The blocks of a table.
 * @param lineOf the text of an element on one line
 * @param label the text before the table that names it, if the table has no caption
 */
export function htmlTableBlocks(
	table: DomElement,
	lineOf: (element: DomElement) => string,
	label: string | null,
): Block[] {
	const captionElement = [...table.children].find((child) => child.nodeName === 'CAPTION' && !isInvisible(child));
	const caption = captionElement === undefined ? '' : toSingleLine(lineOf(captionElement));
	const rows: TableRow[] = [];
	let beforeData = true;
	let group: DomNode | null = null;
	for (const row of rowsOf(table)) {
		const elements = cellsOf(row);
		const cells = elements.map((cell) => ({
			text: textOf(cell, lineOf),
			columns: spanOf(cell, 'colspan'),
			rows: spanOf(cell, 'rowspan'),
			isHeading: cell.nodeName === 'TH',
		}));
		const startsGroup = rows.length > 0 && groupOf(row) !== group;
		group = groupOf(row);
		// A row of headings with one across the table names the rows after it. A row without text only has spans.
		const hasData = cells.length > 1 && cells.some(({ text }) => text !== '');
		const isHeadings = elements.every((cell) => cell.nodeName === 'TH');
		const isHeader = hasData && (isHeadings || elements.every(isBold) || isChildOf(row, 'THEAD'));
		rows.push({ cells, isHeader: isHeader && (beforeData || isHeadings), startsGroup });
		beforeData &&= isHeader || !hasData;
	}
	markHeaders(rows, looksLikeHeader);
	return caption === '' && label !== null
		? tableBlocks(rows, label, null).slice(1)
		: tableBlocks(rows, caption || null, null);
}

/** The text of a cell on one line. Bars are borders that someone has typed. */
function textOf(cell: DomElement, lineOf: (element: DomElement) => string): string {
	if (isInvisible(cell)) return '';
	const text = lineOf(cell);
	return /[^\s|]/.test(text) ? text : '';
}

/** The group of a row, where spans of its cells end. */
function groupOf(row: DomElement): DomNode | null {
	return isChildOf(row, 'THEAD') || isChildOf(row, 'TBODY') || isChildOf(row, 'TFOOT') ? row.parentNode : null;
}

/**
 * The visible rows of a table, and tables in it outside of a row. The search does not descend into them, so nested tables take
 * linear time.
 */
function* rowsOf(table: DomElement): Generator<DomElement> {
	const stack: DomElement[] = [...table.children].reverse();
	for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
		if (isInvisible(element)) continue;
		if (element.nodeName === 'TR' || element.nodeName === 'TABLE') yield element;
		else for (const child of [...element.children].reverse()) stack.push(child);
	}
}

/** The cells of a row that take a column. */
function cellsOf(row: DomElement): DomElement[] {
	return [...row.children].filter(
		(cell) => (cell.nodeName === 'TD' || cell.nodeName === 'TH') && !isWithoutSpace(cell),
	);
}

function spanOf(cell: DomElement, name: 'colspan' | 'rowspan'): number {
	const span = Number.parseInt(cell.getAttribute(name) ?? '1', 10);
	// A row span of 0 goes to the end of its group of rows.
	if (span === 0 && name === 'rowspan') return MAX_ROW_SPAN;
	return Number.isNaN(span) || span < 1 ? 1 : Math.min(span, MAX_ROW_SPAN);
}

/** Whether a table holds data. A layout table is read as the blocks in it. */
export function isDataTable(table: DomElement): boolean {
	if (/^(?:presentation|none)$/.test(table.getAttribute('role') ?? '')) return false;
	let columns = 0;
	let hasHeadings = false;
	let hasLayout = false;
	for (const row of rowsOf(table)) {
		if (row.nodeName === 'TABLE') return false;
		const cells = cellsOf(row);
		columns = Math.max(columns, cells.length);
		hasHeadings ||= cells.some((cell) => cell.nodeName === 'TH') || isChildOf(row, 'THEAD');
		for (const cell of cells) {
			const layout = layoutOf(cell);
			if (layout === 'table') return false;
			hasLayout ||= layout === 'blocks';
			if (hasLayout && (cell.textContent?.length ?? 0) > MAX_CELL_CHARACTERS) return false;
		}
	}
	return columns > 1 && (hasHeadings || !hasLayout);
}

function layoutOf(cell: DomElement): 'table' | 'blocks' | null {
	const stack: DomNode[] = [...cell.childNodes];
	let paragraphs = 0;
	let hasBlocks = false;
	for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
		if (!isElement(node)) continue;
		if (node.nodeName === 'TABLE') return 'table';
		hasBlocks ||= LAYOUT_ELEMENTS.has(node.nodeName) || (node.nodeName === 'P' && ++paragraphs > 1);
		for (const child of node.childNodes) stack.push(child);
	}
	return hasBlocks ? 'blocks' : null;
}

/** Whether all text of a cell is bold. Empty cells are not. */
function isBold(cell: DomElement): boolean {
	const nodes = [...cell.childNodes].filter((node) => !isText(node) || (node.textContent ?? '').trim() !== '');
	return nodes.length > 0 && nodes.every((node) => node.nodeName === 'B' || node.nodeName === 'STRONG');
}

function isChildOf(node: DomNode, parent: string): boolean {
	return node.parentNode?.nodeName === parent;
}
