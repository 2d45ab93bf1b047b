import { type Block, stripInvisible, toSingleLine } from './blocks.ts';
import type { TextBudget } from './limits.ts';
import { raisedText } from './superscript.ts';
import { TableBuilder } from './table-builder.ts';
import { type Element, readXml } from './xml-reader.ts';

/** The content of one slide. */
export interface Slide {
	title: string | null;
	blocks: Block[];
	/** It is left out when the presentation is shown. */
	isHidden: boolean;
}

/** Placeholders whose text is the same on all slides. */
const REPEATED_PLACEHOLDERS = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg']);
const TITLE_PLACEHOLDERS = new Set(['title', 'ctrTitle']);
/** Placeholders whose paragraphs have bullets unless they say otherwise. One without a type is such a list. */
const LIST_PLACEHOLDERS = new Set(['body', 'obj']);

/** @param diagrams the parts with the texts of its diagrams */
export function readSlide(part: Uint8Array, page: number, budget: TextBudget, diagrams: Uint8Array[]): Slide {
	const reader = new SlideReader(page, budget, LIST_PLACEHOLDERS);
	readXml(part, reader, 'presentation');
	const { title, blocks, isHidden } = reader;
	for (const diagram of diagrams) {
		const texts = new SlideReader(page, budget, LIST_PLACEHOLDERS);
		readXml(diagram, texts, 'presentation');
		for (const block of texts.blocks) blocks.push(block);
	}
	return { title, blocks, isHidden };
}

/** The speaker notes of a slide. */
export function readSpeakerNotes(part: Uint8Array, page: number, budget: TextBudget): Block[] {
	const reader = new SlideReader(page, budget, new Set());
	readXml(part, reader, 'presentation');
	return reader.blocks;
}

interface Paragraph {
	text: string;
	level: number;
	/** Its own bullet; null: that of its shape. */
	bullet: 'none' | 'character' | 'number' | null;
	/** The number of its list's first item. */
	startAt: number;
}

interface Shape {
	/** The type of its placeholder; null for a shape that is none. */
	placeholder: string | null;
	isHidden: boolean;
	paragraphs: Paragraph[];
}

/** Reads the shapes of a slide in their order. Shapes outside of the tree of shapes, as in a diagram, have paragraphs alone. */
class SlideReader {
	title: string | null = null;
	isHidden = false;
	readonly blocks: Block[] = [];
	readonly #page: number;
	readonly #budget: TextBudget;
	readonly #listPlaceholders: ReadonlySet<string>;
	#shape: Shape = newShape();
	#paragraph: Paragraph | null = null;
	readonly #tables: TableBuilder[] = [];
	/** Cells that a cell beside or above them spans. */
	#isCovered = false;
	#inText = 0;
	#isRaised = false;
	/** For each open group of shapes, whether it is hidden. */
	readonly #groups: boolean[] = [];
	#inGroupProperties = false;
	#skipping = 0;
	/** For each open mc:AlternateContent, whether one of its choices was read. */
	readonly #alternatives: boolean[] = [];

	constructor(page: number, budget: TextBudget, listPlaceholders: ReadonlySet<string>) {
		this.#page = page;
		this.#budget = budget;
		this.#listPlaceholders = listPlaceholders;
	}

	open(element: Element): void {
		const { name } = element;
		if (this.#skipping > 0 || this.#isSkipped(name)) {
			this.#skipping++;
			return;
		}
		switch (name) {
			case 'p:sld':
				this.isHidden = /^(?:0|false)$/.test(element.attribute('show') ?? '');
				break;
			case 'p:sp':
				this.#endShape();
				break;
			case 'p:grpSp':
				this.#endShape();
				this.#groups.push(false);
				break;
			case 'p:nvGrpSpPr':
				this.#inGroupProperties = true;
				break;
			case 'p:graphicFrame':
				this.#endShape();
				break;
			case 'p:cNvPr': {
				const isHidden = /^(?:1|true)$/.test(element.attribute('hidden') ?? '');
				if (!this.#inGroupProperties) this.#shape.isHidden = isHidden;
				else if (this.#groups.length > 0) this.#groups[this.#groups.length - 1] = isHidden;
				break;
			}
			case 'p:ph':
				this.#shape.placeholder = element.attribute('type') ?? 'obj';
				break;
			case 'mc:AlternateContent':
				this.#alternatives.push(false);
				break;
			case 'mc:Choice':
				this.#alternatives[this.#alternatives.length - 1] = true;
				break;
			default:
				this.#openText(element);
		}
	}

	/** An element of DrawingML: of a text or a table. */
	#openText(element: Element): void {
		const table = this.#tables.at(-1);
		switch (element.name) {
			case 'a:p':
				this.#paragraph = { text: '', level: 0, bullet: null, startAt: 1 };
				break;
			case 'a:pPr':
				if (this.#paragraph !== null) this.#paragraph.level = levelOf(element.attribute('lvl'));
				break;
			case 'a:buNone':
				if (this.#paragraph !== null) this.#paragraph.bullet = 'none';
				break;
			case 'a:buChar':
			case 'a:buBlip':
				if (this.#paragraph !== null) this.#paragraph.bullet = 'character';
				break;
			case 'a:buAutoNum':
				if (this.#paragraph !== null) {
					this.#paragraph.bullet = 'number';
					this.#paragraph.startAt = Number(element.attribute('startAt') ?? 1) || 1;
				}
				break;
			case 'a:r':
				this.#isRaised = false;
				break;
			case 'a:rPr':
				this.#isRaised = Number.parseInt(element.attribute('baseline') ?? '0', 10) > 0;
				break;
			case 'a:t':
				this.#inText++;
				break;
			case 'a:br':
				this.#write('\n');
				break;
			case 'a:tbl':
				this.#tables.push(new TableBuilder());
				break;
			case 'a:tblPr':
				if (/^(?:1|true)$/.test(element.attribute('firstRow') ?? '')) table?.markRow(true);
				else if (table !== undefined) table.firstRow = element.attribute('firstRow') === null ? 'unstyled' : 'plain';
				break;
			case 'a:tc':
				this.#isCovered = [element.attribute('hMerge'), element.attribute('vMerge')].some((value) =>
					/^(?:1|true)$/.test(value ?? ''),
				);
				table?.spanColumns(Number(element.attribute('gridSpan') ?? 1));
				table?.spanRows(Number(element.attribute('rowSpan') ?? 1));
				break;
		}
	}

	close(name: string): void {
		if (this.#skipping > 0) {
			this.#skipping--;
			return;
		}
		if (name === 'a:t') this.#inText--;
		else if (name === 'a:p') this.#endParagraph();
		else if (name === 'a:tc') this.#endCell();
		else if (name === 'a:tr') this.#tables.at(-1)?.endRow();
		else if (name === 'a:tbl') {
			const table = this.#tables.pop();
			if (table === undefined || this.#shape.isHidden || this.#groups.includes(true)) return;
			for (const block of table.blocks(this.#page)) this.blocks.push(block);
		} else if (name === 'p:nvGrpSpPr') this.#inGroupProperties = false;
		else if (name === 'p:grpSp') {
			this.#endShape();
			this.#groups.pop();
		} else if (name === 'p:sp' || name === 'p:sld' || name === 'p:notes') this.#endShape();
		else if (name === 'dataModel') this.#endShape();
		else if (name === 'mc:AlternateContent') this.#alternatives.pop();
	}

	text(text: string): void {
		if (this.#inText > 0 && this.#skipping === 0) this.#write(text);
	}

	#isSkipped(name: string): boolean {
		return (name === 'mc:Choice' || name === 'mc:Fallback') && this.#alternatives.at(-1) === true;
	}

	#write(text: string): void {
		const paragraph = this.#paragraph;
		if (paragraph !== null) paragraph.text += this.#isRaised ? raisedText(paragraph.text, text) : text;
	}

	#endParagraph(): void {
		const paragraph = this.#paragraph;
		this.#paragraph = null;
		if (paragraph === null) return;
		const text = stripInvisible(paragraph.text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n ?/g, '\n')).trim();
		if (text === '') return;
		this.#budget.spend(text);
		const table = this.#tables.at(-1);
		if (table !== undefined) table.addText(toSingleLine(text));
		else this.#shape.paragraphs.push({ ...paragraph, text });
	}

	#endCell(): void {
		const table = this.#tables.at(-1);
		// Each cell counts, also an empty one.
		this.#budget.spend('');
		if (this.#isCovered) table?.dropCell();
		else table?.endCell();
		this.#isCovered = false;
	}

	#endShape(): void {
		const { placeholder, isHidden, paragraphs } = this.#shape;
		this.#shape = newShape();
		if (
			isHidden ||
			this.#groups.includes(true) ||
			paragraphs.length === 0 ||
			REPEATED_PLACEHOLDERS.has(placeholder ?? '')
		)
			return;
		if (TITLE_PLACEHOLDERS.has(placeholder ?? '') && this.title === null) {
			this.title = toSingleLine(paragraphs.map(({ text }) => text).join(' '));
			return;
		}
		const isList = this.#listPlaceholders.has(placeholder ?? '') && paragraphs.length > 1;
		/** The number of the last item of each level. */
		let numbers: number[] = [];
		for (const { text, level, bullet, startAt } of paragraphs) {
			numbers = numbers.slice(0, level + 1);
			const isItem = bullet === null ? isList : bullet !== 'none';
			if (bullet === 'number') numbers[level] = (numbers[level] ?? startAt - 1) + 1;
			else delete numbers[level];
			const marker = bullet === 'number' ? `${numbers[level]}. ` : '- ';
			this.blocks.push({ kind: isItem ? 'item' : 'paragraph', text: isItem ? marker + text : text, page: this.#page });
		}
	}
}

/** The level of a paragraph, from 0 to 8 (ISO/IEC 29500-1, 20.1.10.71). */
function levelOf(value: string | null): number {
	const level = Number(value);
	return Number.isInteger(level) && level >= 0 && level <= 8 ? level : 0;
}

function newShape(): Shape {
	return { placeholder: null, isHidden: false, paragraphs: [] };
}
