import { type Block, stripInvisible } from './blocks.ts';
import { MAX_PAGES, MAX_TEXT_BYTES, resourceLimit, TextBudget } from './limits.ts';
import { countOf } from './odf-package.ts';
import { OdtStyles } from './odt-styles.ts';
import { raisedText } from './superscript.ts';
import { TableStack } from './table-stack.ts';
import { type Element, readXml } from './xml-reader.ts';

const MAX_SPACES = 100;

/** Subtrees whose text is not part of the document: deletions, comments, tables of contents, ruby, declarations, pictures. */
const SKIPPED = new Set(
	`text:tracked-changes office:annotation text:table-of-content text:alphabetical-index text:ruby-text
	text:variable-decls text:sequence-decls text:user-field-decls office:forms office:event-listeners
	text:note-citation office:binary-data title desc`.split(/\s+/),
);

/** Frames in the margin of a slide. */
const MARGIN_FRAME = /^(?:header|footer|date-time|page-number)$/;

interface Paragraph {
	text: string;
	style: string | null;
	/** The level of a heading element. */
	heading: number | null;
	/** The blocks of its notes and text boxes, which follow it. */
	after: Block[];
}

interface List {
	style: string | null;
	/** The number of the last item. */
	number: number;
	/** The marker of the open item, until its first paragraph is written. */
	marker: string;
}

/** Reads the parts of an OpenDocument text or presentation. */
export class OdtReader {
	readonly blocks: Block[] = [];
	title: string | null = null;
	/** The number of slides; 0 for a text. */
	slides = 0;
	readonly #kind: string;
	readonly #styles = new OdtStyles();
	readonly #paragraphs: Paragraph[] = [];
	#lists: List[] = [];
	/** The lists around each open note or text box: its paragraphs are not items of those. */
	readonly #outerLists: List[][] = [];
	/** The last number of each list style, for lists that continue another. */
	readonly #lastNumbers = new Map<string | null, number>();
	readonly #tables: TableStack;
	/** Open notes and text boxes. */
	readonly #boxes: Block[][] = [];
	readonly #budget = new TextBudget();
	/** What each open frame is on a slide: `title`, `outline`, `notes`. */
	readonly #frames: Array<string | null> = [];
	/** Whether each open span is raised. */
	readonly #spans: boolean[] = [];
	/** The number of blocks before the present slide. */
	#slideStart = 0;
	#inBody = false;
	#written = 0;
	#skipping = 0;

	/** @param kind what the file is, for the sentences of errors */
	constructor(kind: string) {
		this.#kind = kind;
		this.#tables = new TableStack(kind);
	}

	readStyles(part: Uint8Array): void {
		const open = (element: Element) => this.#styles.open(element);
		readXml(part, { open, close: (name) => this.#styles.close(name), text: () => {} }, this.#kind);
	}

	readContent(part: Uint8Array): void {
		readXml(part, this, this.#kind);
	}

	open(element: Element): void {
		const { name } = element;
		if (this.#skipping > 0 || this.#isSkipped(element)) {
			this.#skipping++;
			return;
		}
		this.#styles.open(element);
		if (name === 'office:text' || name === 'office:presentation') this.#inBody = true;
		if (this.#inBody) this.#openContent(element);
	}

	#openContent(element: Element): void {
		switch (element.name) {
			case 'text:p':
			case 'text:h': {
				const level = Number(element.attribute('outline-level') ?? 1) || 1;
				const heading = element.name === 'text:h' ? level : this.#frames.at(-1) === 'title' ? 1 : null;
				this.#paragraphs.push({ text: '', style: element.attribute('style-name'), heading, after: [] });
				break;
			}
			case 'text:s':
				this.#write(' '.repeat(Math.min(countOf(element.attribute('c')), MAX_SPACES)));
				break;
			case 'text:tab':
				this.#write(' ');
				break;
			case 'text:line-break':
				this.#write('\n');
				break;
			case 'text:note-body':
			case 'draw:text-box':
				this.#boxes.push([]);
				this.#outerLists.push(this.#lists);
				this.#lists = [];
				break;
			case 'draw:page':
				if (++this.slides > MAX_PAGES)
					throw resourceLimit(`The ${this.#kind} has more than ${MAX_PAGES} slides. Split it.`);
				this.#slideStart = this.blocks.length;
				break;
			case 'draw:frame':
				this.#frames.push(element.attribute('presentation:class'));
				break;
			case 'text:span':
				this.#spans.push(this.#styles.isRaised(element.attribute('style-name')));
				break;
			case 'text:list':
				this.#openList(element);
				break;
			case 'text:list-item':
				this.#openItem(element);
				break;
			case 'table:table':
				this.#tables.open(this.#boxes.length);
				break;
			default:
				this.#openTablePart(element);
		}
	}

	#openList(element: Element): void {
		const style = element.attribute('style-name') ?? this.#lists.at(-1)?.style ?? null;
		const continues = element.attribute('continue-numbering') === 'true' || element.attribute('continue-list') !== null;
		this.#lists.push({ style, number: continues ? (this.#lastNumbers.get(style) ?? 0) : 0, marker: '' });
	}

	#endList(): void {
		const list = this.#lists.pop();
		if (list !== undefined && this.#lists.length === 0) this.#lastNumbers.set(list.style, list.number);
	}

	#openItem(element: Element): void {
		const list = this.#lists.at(-1);
		if (list === undefined) return;
		const start = Number(element.attribute('start-value') ?? Number.NaN);
		list.number = Number.isInteger(start) ? start : list.number + 1;
		list.marker = this.#styles.markerOf(list.style, this.#lists.length, list.number);
	}

	#openTablePart(element: Element): void {
		const table = this.#tables.innermost;
		if (table === undefined) return;
		if (element.name === 'table:table-header-rows') table.isInHeader = true;
		else if (element.name === 'table:table-row') table.markRow(table.isInHeader);
		else if (element.name === 'table:table-cell') {
			// A repeated cell is read as a cell that spans its copies.
			const repeated = countOf(element.attribute('number-columns-repeated'));
			table.spanColumns(repeated * countOf(element.attribute('number-columns-spanned')));
			table.spanRows(countOf(element.attribute('number-rows-spanned')));
		}
	}

	close(name: string): void {
		if (this.#skipping > 0) {
			this.#skipping--;
			return;
		}
		this.#styles.close(name);
		if (!this.#inBody) return;
		if (name === 'office:text' || name === 'office:presentation') this.#inBody = false;
		else if (name === 'draw:page') this.#endSlide();
		else if (name === 'draw:frame') this.#frames.pop();
		else if (name === 'text:p' || name === 'text:h') this.#endParagraph();
		else if (name === 'text:note-body' || name === 'draw:text-box') this.#endBox();
		else if (name === 'text:span') this.#spans.pop();
		else if (name === 'text:list') this.#endList();
		else this.#closeTablePart(name);
	}

	#closeTablePart(name: string): void {
		const table = this.#tables.innermost;
		if (table === undefined) return;
		if (name === 'table:table-header-rows') table.isInHeader = false;
		else if (name === 'table:table-cell') this.#tables.endCell();
		// A cell beside or above it spans its place.
		else if (name === 'table:covered-table-cell') table.dropCell();
		else if (name === 'table:table-row') this.#tables.endRow();
		else if (name === 'table:table') this.#endTable();
	}

	text(text: string): void {
		// Line breaks in the file are spaces (ISO/IEC 26300-1, 6.1.2).
		if (this.#skipping > 0) return;
		const before = this.#paragraphs.at(-1)?.text ?? '';
		const spaced = text.replace(/\s+/g, ' ');
		this.#write(this.#spans.at(-1) ? raisedText(before, spaced) : spaced);
	}

	#endSlide(): void {
		for (const block of this.blocks.slice(this.#slideStart)) block.page = this.slides;
	}

	#isSkipped(element: Element): boolean {
		const { name } = element;
		if (SKIPPED.has(name)) return true;
		if (name === 'draw:frame') return MARGIN_FRAME.test(element.attribute('presentation:class') ?? '');
		if (name === 'text:section') return element.attribute('display') === 'none';
		return name === 'text:span' && this.#styles.isHidden(element.attribute('style-name'));
	}

	#write(text: string): void {
		const paragraph = this.#paragraphs.at(-1);
		if (paragraph === undefined) return;
		paragraph.text += text;
		this.#written += text.length;
		if (this.#written > MAX_TEXT_BYTES)
			throw resourceLimit(`The ${this.#kind} holds more than 10 MB of text. Split it.`);
	}

	#endParagraph(): void {
		const paragraph = this.#paragraphs.pop();
		if (paragraph === undefined) return;
		const { style, after } = paragraph;
		const text = stripInvisible(paragraph.text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n ?/g, '\n')).trim();
		const isShown = text !== '' && !this.#styles.isHidden(style);
		const table = this.#tables.around(this.#boxes.length);
		if (table !== undefined) {
			if (isShown) table.addText(text);
			for (const block of after) table.addText(block.text);
			return;
		}
		if (isShown) this.#emit(this.#blockOf(text, paragraph));
		for (const block of after) this.#emit(block);
	}

	#blockOf(text: string, { style, heading }: Paragraph): Block {
		const isTitle = this.#styles.isTitle(style);
		if (isTitle) this.title ??= text.replace(/\s+/gu, ' ');
		const level = heading ?? this.#styles.outlineOf(style) ?? (isTitle ? 1 : null);
		if (level !== null) return { kind: 'heading', level, text: text.replace(/\s+/gu, ' '), page: null };
		const list = this.#lists.at(-1);
		if (list === undefined || list.marker === '') return { kind: 'paragraph', text, page: null };
		const item = list.marker + text;
		list.marker = '';
		return { kind: 'item', text: item, page: null };
	}

	#endBox(): void {
		const box = this.#boxes.pop() ?? [];
		this.#lists = this.#outerLists.pop() ?? [];
		const host = this.#paragraphs.at(-1);
		for (const block of box) {
			if (host !== undefined) host.after.push(block);
			else this.#emit(block);
		}
	}

	#endTable(): void {
		const ended = this.#tables.end();
		if (ended === null || ended.isNested) return;
		for (const block of ended.table.blocks(null)) this.#emit(block);
	}

	#emit(block: Block): void {
		const box = this.#boxes.at(-1);
		if (box === undefined) this.#budget.spend(block.text);
		(box ?? this.blocks).push(block);
	}
}
