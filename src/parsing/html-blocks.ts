import { type Block, type BodyBlock, stripInvisible, toSingleLine } from './blocks.ts';
import { type DomElement, type DomNode, isElement, isText } from './html-dom.ts';
import { htmlTableBlocks, isDataTable } from './html-table.ts';
import { isBoilerplate, isInvisible } from './html-visibility.ts';
import { raisedText } from './superscript.ts';

const BLOCK_ELEMENTS = new Set(
	`ADDRESS ARTICLE ASIDE BODY CAPTION CENTER DD DETAILS DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HGROUP
	HR HTML LEGEND MAIN MENU NAV OL P SECTION SUMMARY TABLE TBODY TD TFOOT TH THEAD TR UL`.split(/\s+/),
);

/** Elements whose structure is dropped within a line. */
const FLATTENED_ELEMENTS = /^(?:H[1-6]|PRE|TABLE)$/;

/** The text of links beside a heading: to edit the section, to link to it. */
const HEADING_LINKS =
	/(?:\s*\[\s*(?:edit|edit source|bearbeiten|quelltext bearbeiten|modifier|modifier le code|editar|editar código|modifica|modifica wikitesto|bewerken|brontekst bewerken|редактировать|編集|编辑)(?:\s*\|[^[\]]{0,80})?\s*\])+$|\s*[¶§]$/iu;

/** The end of a heading that may be links. */
const MAX_LINKS_CHARACTERS = 300;

/** A longer text before a table, or in place of a term, is not its name. */
const MAX_LABEL_CHARACTERS = 120;

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

/** Terms that share their descriptions. */
interface Terms {
	names: string[];
	/** A description follows them; the next term begins others. */
	isDescribed: boolean;
	/** They were written with a description. */
	isWritten: boolean;
}

const noTerms = (): Terms => ({ names: [], isDescribed: false, isWritten: false });

/** A whole page, a part of a page, or an element that becomes one line (a heading, a cell), without structure. */
type Scope = 'content' | 'part' | 'line';

class BlockWriter {
	readonly blocks: Block[] = [];
	readonly #scope: Scope;
	#text = '';
	/** The bullet or number of a list item, until its first text is written. */
	#marker = '';
	/** The terms of a definition list that stand before the next description. */
	#terms: Terms = noTerms();
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
		if (!isElement(node)) return;
		if (this.#isInvisible(node)) {
			this.#passTermOrDescription(node, kind);
			return;
		}
		if (depth > MAX_DEPTH) {
			this.#text += ` ${(node.textContent ?? '').replace(/\s+/gu, ' ')} `;
			return;
		}
		const name = node.nodeName;
		if (name === 'BR') this.#text += '\n';
		else if (name === 'SUP') this.#superscript(node, kind, depth);
		else if (this.#scope === 'line' && FLATTENED_ELEMENTS.test(name)) this.#container(node, kind, depth, kind);
		else if (/^H[1-6]$/.test(name)) this.#heading(node, Number(name.charAt(1)), kind);
		else if (name === 'PRE') this.#code(node, kind);
		else if (name === 'TABLE' && isDataTable(node)) this.#table(node, kind);
		else if (name === 'LI') this.#item(node, depth, kind);
		else if (name === 'DL') this.#definitions(node, depth, kind);
		else if (name === 'DT' && this.#scope !== 'line') this.#term(node, depth, kind);
		else if (name === 'DD' && this.#scope !== 'line') this.#description(node, depth, kind);
		else if (name === 'BLOCKQUOTE') this.#container(node, 'quote', depth, kind);
		else if (BLOCK_ELEMENTS.has(name)) this.#container(node, kind, depth, kind);
		else for (const child of node.childNodes) this.walk(child, kind, depth + 1);
	}

	#superscript(element: DomElement, kind: BlockKind, depth: number): void {
		if (isNoteLink(element)) return;
		const children = [...element.childNodes];
		if (children.length === 1 && children[0] !== undefined && isText(children[0]))
			this.#text += raisedText(this.#text, (element.textContent ?? '').replace(/\s+/gu, ' '));
		else for (const child of children) this.walk(child, kind, depth + 1);
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
		return isInvisible(element) || (this.#scope === 'content' && isBoilerplate(element));
	}

	#container(element: DomElement, kind: BlockKind, depth: number, outer: BlockKind): void {
		this.flush(outer);
		for (const child of element.childNodes) this.walk(child, kind, depth + 1);
		this.flush(kind);
	}

	#heading(element: DomElement, level: number, outer: BlockKind): void {
		this.flush(outer);
		const line = cellText(element);
		// The links stand at the end; the time of the search for them is quadratic in the length of the text.
		const start = Math.max(0, line.length - MAX_LINKS_CHARACTERS);
		const text = (line.slice(0, start) + line.slice(start).replace(HEADING_LINKS, '')).trim();
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
		const before = this.blocks.at(-1);
		const names =
			before?.kind === 'paragraph' && before.text.length <= MAX_LABEL_CHARACTERS && /[:：]$/.test(before.text);
		for (const block of htmlTableBlocks(table, cellText, names ? before.text : null)) this.blocks.push(block);
	}

	/** The entries of a definition list. Each description stands behind its terms. */
	#definitions(list: DomElement, depth: number, outer: BlockKind): void {
		const outside = this.#terms;
		this.#terms = noTerms();
		this.#container(list, 'paragraph', depth, outer);
		this.#endTerms();
		this.#terms = outside;
	}

	#term(element: DomElement, depth: number, outer: BlockKind): void {
		this.flush(outer);
		if (this.#terms.isDescribed) this.#endTerms();
		// A term with a heading in it begins a section.
		if ([...element.children].some((child) => /^H[1-6]$/.test(child.nodeName))) {
			this.#container(element, outer, depth, outer);
			return;
		}
		const text = toSingleLine(cellText(element));
		if (text !== '') this.#terms.names.push(text);
	}

	/** A hidden term or description still ends the one before it. */
	#passTermOrDescription({ nodeName }: DomElement, outer: BlockKind): void {
		if (nodeName === 'DD') this.#terms.isDescribed = true;
		if (nodeName !== 'DT' || !this.#terms.isDescribed) return;
		this.flush(outer);
		this.#endTerms();
	}

	#description(element: DomElement, depth: number, outer: BlockKind): void {
		this.flush(outer);
		const terms = this.#terms;
		const term = terms.names.join(', ');
		const lead = term === '' || /[:：?？!.]$/u.test(term) ? term : `${term}:`;
		const start = this.blocks.length;
		this.#container(element, 'paragraph', depth, 'paragraph');
		terms.isDescribed = true;
		// A second description repeats a short term.
		if (lead === '' || this.blocks.length === start || (terms.isWritten && lead.length > MAX_LABEL_CHARACTERS)) return;
		terms.isWritten = true;
		const first = this.blocks[start];
		if (first?.kind === 'paragraph') this.blocks[start] = { ...first, kind: 'item', text: `- ${lead} ${first.text}` };
		else this.blocks.splice(start, 0, { kind: 'paragraph', text: lead, page: null });
	}

	/** Writes the terms that have no description with text. */
	#endTerms(): void {
		const { names, isWritten } = this.#terms;
		this.#terms = noTerms();
		if (isWritten) return;
		for (const name of names) this.blocks.push({ kind: 'item', text: `- ${name}`, page: null });
	}
}

/** Whether a superscript is the number or sign of a note, with a link to the note on the same page. */
function isNoteLink(element: DomElement): boolean {
	const link = element.querySelector('a[href]');
	const text = toSingleLine(element.textContent ?? '');
	return link?.getAttribute('href')?.startsWith('#') === true && /^\[?(?:\d{1,3}|[a-z]|[*†‡§]{1,3})\]?$/iu.test(text);
}

/** All text of an element on one line; blocks in it stay apart. */
function cellText(element: DomElement): string {
	const writer = new BlockWriter('line');
	for (const child of element.childNodes) writer.walk(child, 'paragraph', 0);
	writer.flush('paragraph');
	return toSingleLine(writer.blocks.map((block) => block.text).join(' '));
}
