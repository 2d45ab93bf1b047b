import { type Block, type BodyBlock, stripInvisible, toSingleLine } from './blocks.ts';
import { type DomElement, type DomNode, isElement, isText } from './html-dom.ts';

/** Elements whose text is not visible on a page. */
const INVISIBLE_ELEMENTS = new Set(
	`HEAD TITLE SCRIPT STYLE NOSCRIPT TEMPLATE IFRAME OBJECT EMBED SVG CANVAS AUDIO VIDEO MAP SELECT OPTION BUTTON INPUT
	TEXTAREA DATALIST PROGRESS METER DIALOG`.split(/\s+/),
);

/** Elements around the content of a page. */
const BOILERPLATE_ELEMENTS = new Set(['NAV', 'FOOTER', 'ASIDE']);
const BOILERPLATE_ROLES = new Set([
	'navigation',
	'banner',
	'contentinfo',
	'complementary',
	'search',
	'dialog',
	'alert',
	'menu',
]);

const BLOCK_ELEMENTS = new Set(
	`ADDRESS ARTICLE ASIDE BODY CAPTION CENTER DD DETAILS DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HGROUP
	HR HTML LEGEND MAIN MENU NAV OL P SECTION SUMMARY TABLE TBODY TD TFOOT TH THEAD TR UL`.split(/\s+/),
);

/** A table with one of these in a cell is a layout table. */
const LAYOUT_ELEMENTS = new Set('TABLE H1 H2 H3 H4 H5 H6 UL OL DL PRE FORM SECTION ARTICLE BLOCKQUOTE'.split(' '));

/** Elements whose structure is dropped within a line. */
const FLATTENED_ELEMENTS = /^(?:H[1-6]|PRE|TABLE)$/;

/** Deeper than this, structure is dropped and text is kept. */
const MAX_DEPTH = 400;

type BlockKind = BodyBlock['kind'];

/**
 * The blocks of a part of a page.
 * @param isWholePage true leaves out the elements around the content: navigation, footer, asides
 */
export function htmlBlocks(root: DomNode, isWholePage: boolean): Block[] {
	const writer = new BlockWriter(isWholePage ? 'content' : 'part');
	writer.walk(root, 'paragraph', 0);
	writer.flush('paragraph');
	return writer.blocks;
}

/** A whole page, a part of a page, or an element that becomes one line (a heading, a cell), without structure. */
type Scope = 'content' | 'part' | 'line';

class BlockWriter {
	readonly blocks: Block[] = [];
	readonly #scope: Scope;
	#text = '';
	/** The bullet or number of a list item, until its first text is written. */
	#marker = '';
	/** The number of each ordered list's next item. */
	readonly #numbers = new Map<DomNode, number>();

	constructor(scope: Scope) {
		this.#scope = scope;
	}

	walk(node: DomNode, kind: BlockKind, depth: number): void {
		if (isText(node)) {
			this.#text += (node.textContent ?? '').replace(/\s+/gu, ' ');
			return;
		}
		if (!isElement(node) || this.#isInvisible(node)) return;
		if (depth > MAX_DEPTH) {
			this.#text += ` ${(node.textContent ?? '').replace(/\s+/gu, ' ')} `;
			return;
		}
		const name = node.nodeName;
		if (name === 'BR') this.#text += '\n';
		else if (this.#scope === 'line' && FLATTENED_ELEMENTS.test(name)) this.#container(node, kind, depth, kind);
		else if (/^H[1-6]$/.test(name)) this.#heading(node, Number(name.charAt(1)), kind);
		else if (name === 'PRE') this.#code(node, kind);
		else if (name === 'TABLE' && isDataTable(node)) this.#table(node, kind);
		else if (name === 'LI') this.#item(node, depth, kind);
		else if (name === 'BLOCKQUOTE') this.#container(node, 'quote', depth, kind);
		else if (BLOCK_ELEMENTS.has(name)) this.#container(node, kind, depth, kind);
		else for (const child of node.childNodes) this.walk(child, kind, depth + 1);
	}

	/** Ends the block that is being written. */
	flush(kind: BlockKind): void {
		const text = stripInvisible(this.#text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n ?/g, '\n')).trim();
		this.#text = '';
		if (text === '') return;
		this.blocks.push({ kind, text: this.#marker + text, page: null });
		this.#marker = '';
	}

	#isInvisible(element: DomElement): boolean {
		if (INVISIBLE_ELEMENTS.has(element.nodeName.toUpperCase()) || element.hasAttribute('hidden')) return true;
		if (element.getAttribute('aria-hidden') === 'true') return true;
		if (/display\s*:\s*none|visibility\s*:\s*hidden/i.test(element.getAttribute('style') ?? '')) return true;
		return this.#scope === 'content' && isBoilerplate(element);
	}

	#container(element: DomElement, kind: BlockKind, depth: number, outer: BlockKind): void {
		this.flush(outer);
		for (const child of element.childNodes) this.walk(child, kind, depth + 1);
		this.flush(kind);
	}

	#heading(element: DomElement, level: number, outer: BlockKind): void {
		this.flush(outer);
		const text = toSingleLine(cellText(element));
		if (text !== '') this.blocks.push({ kind: 'heading', level, text, page: null });
	}

	#code(element: DomElement, outer: BlockKind): void {
		this.flush(outer);
		const text = stripInvisible(element.textContent ?? '')
			.trimEnd()
			.replace(/^\n+/, '');
		if (text !== '') this.blocks.push({ kind: 'code', text, page: null });
	}

	#item(element: DomElement, depth: number, outer: BlockKind): void {
		this.flush(outer);
		this.#marker = this.#markerOf(element);
		this.#container(element, 'item', depth, 'item');
		this.#marker = '';
	}

	/** The marker that a browser shows before a list item. */
	#markerOf(item: DomElement): string {
		const list = item.parentNode;
		if (list === null || !isElement(list) || list.nodeName !== 'OL') return '- ';
		const start = Number.parseInt(list.getAttribute('start') ?? '1', 10);
		const number = this.#numbers.get(list) ?? (Number.isNaN(start) ? 1 : start);
		this.#numbers.set(list, number + 1);
		return `${number}. `;
	}

	#table(table: DomElement, outer: BlockKind): void {
		this.flush(outer);
		const caption = toSingleLine([...table.children].find(isCaption)?.textContent ?? '');
		if (caption !== '') this.blocks.push({ kind: 'paragraph', text: caption, page: null });
		let first = true;
		for (const row of rowsOf(table)) {
			const cells = cellsOf(row);
			const text = cells.map((cell) => cellText(cell)).join(' | ');
			if (!/[^\s|]/.test(text)) continue;
			const header = cells.length > 1 && cells.every((cell) => cell.nodeName === 'TH' || isChildOf(row, 'THEAD'));
			this.blocks.push({ kind: 'row', text, page: null, ...(first ? { table: { header } } : {}) });
			first = false;
		}
	}
}

function isBoilerplate(element: DomElement): boolean {
	if (BOILERPLATE_ELEMENTS.has(element.nodeName)) return true;
	if (BOILERPLATE_ROLES.has(element.getAttribute('role')?.toLowerCase() ?? '')) return true;
	// The header of a page surrounds its content; the header of an article has its title.
	return element.nodeName === 'HEADER' && isChildOf(element, 'BODY');
}

function isChildOf(node: DomNode, parent: string): boolean {
	return node.parentNode?.nodeName === parent;
}

/** The rows of a table, and tables in it outside of a row. The search does not descend into them, so nested tables take linear time. */
function* rowsOf(table: DomElement): Generator<DomElement> {
	const stack: DomElement[] = [...table.children].reverse();
	for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
		if (element.nodeName === 'TR' || element.nodeName === 'TABLE') yield element;
		else for (const child of [...element.children].reverse()) stack.push(child);
	}
}

function cellsOf(row: DomElement): DomElement[] {
	return [...row.children].filter((cell) => cell.nodeName === 'TD' || cell.nodeName === 'TH');
}

function isCaption(element: DomElement): boolean {
	return element.nodeName === 'CAPTION';
}

/** Whether a table lays out the page. Such a table is read as the blocks in it. */
function isDataTable(table: DomElement): boolean {
	if (table.getAttribute('role') === 'presentation') return false;
	let columns = 0;
	for (const row of rowsOf(table)) {
		if (row.nodeName === 'TABLE') return false;
		const cells = cellsOf(row);
		columns = Math.max(columns, cells.length);
		if (cells.some(isLayoutCell)) return false;
	}
	return columns > 1;
}

function isLayoutCell(cell: DomElement): boolean {
	const stack: DomNode[] = [...cell.childNodes];
	let paragraphs = 0;
	for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
		if (!isElement(node)) continue;
		if (LAYOUT_ELEMENTS.has(node.nodeName) || (node.nodeName === 'P' && ++paragraphs > 1)) return true;
		for (const child of node.childNodes) stack.push(child);
	}
	return false;
}

/** All text of an element on one line; blocks in it stay apart. */
function cellText(element: DomElement): string {
	const writer = new BlockWriter('line');
	for (const child of element.childNodes) writer.walk(child, 'paragraph', 0);
	writer.flush('paragraph');
	return toSingleLine(writer.blocks.map((block) => block.text).join(' '));
}
