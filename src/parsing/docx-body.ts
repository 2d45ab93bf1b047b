import type { Block } from './blocks.ts';
import type { Notes } from './docx-notes.ts';
import type { Numbering } from './docx-numbering.ts';
import { newParagraph, normaliseSpace, type Paragraph } from './docx-paragraph.ts';
import { outlineOf, type ParagraphRole, type Styles } from './docx-styles.ts';
import { MAX_TEXT_BYTES, resourceLimit, TextBudget } from './limits.ts';
import { isOn } from './ooxml-package.ts';
import { raisedText } from './superscript.ts';
import { symbolOf } from './symbol-font.ts';
import { TableStack } from './table-stack.ts';
import { type Element, readXml } from './xml-reader.ts';

/** Subtrees that are not part of the document: deleted or moved text, properties before a change, and names of form fields. */
const SKIPPED = new Set(
	`w:del w:moveFrom w:rPrChange w:pPrChange w:tblPrChange w:tblPrExChange w:trPrChange w:tcPrChange w:tblGridChange
	w:sectPrChange w:instrText w:delText w:ffData`.split(/\s+/),
);

/** What the file is, for the sentences of errors. */
const KIND = 'Word document';

/** What the main part of a document refers to. */
export interface BodyContext {
	styles: Styles;
	numbering: Numbering;
	notes: Notes;
}

/** The content of a document's main part, in reading order. */
export interface Body {
	blocks: Block[];
	/** The text of the first paragraph with the style Title. */
	title: string | null;
}

/**
 * Reads a WordprocessingML part. Text boxes follow the paragraph that anchors them and are read once, although files keep a
 * second form of them for old programs. Insertions are read, deletions are not. Notes follow their reference.
 */
export function readBody(part: Uint8Array, context: BodyContext): Body {
	const reader = new BodyReader(context);
	readXml(part, reader, KIND);
	return { blocks: reader.blocks, title: reader.title };
}

class BodyReader {
	readonly blocks: Block[] = [];
	title: string | null = null;
	readonly #styles: Styles;
	readonly #numbering: Numbering;
	readonly #notes: Notes;
	/** Open paragraphs: a text box holds paragraphs within a paragraph. */
	readonly #paragraphs: Paragraph[] = [];
	readonly #tables = new TableStack(KIND);
	/** Blocks of the text boxes that are open. */
	readonly #boxes: Block[][] = [];
	readonly #budget = new TextBudget();
	#written = 0;
	#skipping = 0;
	#inText = 0;
	#inProperties = false;
	#hidden = false;
	#isRaised = false;
	/** For each open mc:AlternateContent, whether one of its choices was read. */
	readonly #alternatives: boolean[] = [];
	/** For each open content control, whether it shows only the prompt for its content. */
	readonly #prompts: boolean[] = [];

	constructor({ styles, numbering, notes }: BodyContext) {
		this.#styles = styles;
		this.#numbering = numbering;
		this.#notes = notes;
	}

	open(element: Element): void {
		const { name } = element;
		if (this.#skipping > 0 || this.#isSkipped(name)) {
			if (this.#inProperties && (name === 'w:del' || name === 'w:moveFrom')) this.#dropMark();
			this.#skipping++;
			return;
		}
		this.#openProperty(element);
		this.#openContent(element);
	}

	/** An element that describes the open paragraph, run or table. */
	#openProperty(element: Element): void {
		const paragraph = this.#paragraphs.at(-1);
		const table = this.#tables.innermost;
		switch (element.name) {
			case 'w:pStyle':
				if (paragraph !== undefined) paragraph.style = element.attribute('val');
				break;
			case 'w:outlineLvl':
				if (paragraph !== undefined) paragraph.outline = outlineOf(element.attribute('val'));
				break;
			case 'w:numId':
				// A numbering of 0 removes a paragraph from the list of its style.
				if (paragraph !== undefined) paragraph.listId = (element.attribute('val') ?? '0').replace(/^0$/, '');
				break;
			case 'w:ilvl':
				if (paragraph !== undefined) paragraph.level = Number(element.attribute('val')) || 0;
				break;
			case 'w:pPr':
				this.#inProperties = true;
				break;
			case 'w:showingPlcHdr':
				if (this.#prompts.length > 0) this.#prompts[this.#prompts.length - 1] = isOn(element.attribute('val'));
				break;
			case 'w:vanish':
				this.#hidden = isOn(element.attribute('val'));
				if (this.#inProperties && this.#hidden) this.#dropMark();
				break;
			case 'w:vertAlign':
				this.#isRaised = element.attribute('val') === 'superscript';
				break;
			case 'w:tblLook':
				if (table !== undefined && !hasHeaderStyle(element)) table.firstRow = 'unstyled';
				break;
			case 'w:tblHeader':
				table?.markRow(isOn(element.attribute('val')));
				break;
			case 'w:gridSpan':
				table?.spanColumns(Number(element.attribute('val')));
				break;
			case 'w:gridBefore':
				table?.skipColumns(Number(element.attribute('val')));
				break;
			case 'w:vMerge':
				table?.continueCell(element.attribute('val') !== 'restart');
				break;
		}
	}

	/** An element that has text, or that contains others. */
	#openContent(element: Element): void {
		switch (element.name) {
			case 'w:sdt':
				this.#prompts.push(false);
				break;
			case 'w:p':
				this.#paragraphs.push(newParagraph());
				break;
			case 'w:r':
			case 'm:r':
				this.#hidden = this.#isRaised = false;
				break;
			case 'w:t':
			case 'm:t':
				this.#inText++;
				break;
			case 'w:tab':
			case 'w:ptab':
				this.#write(' ');
				break;
			case 'w:br':
			case 'w:cr':
				this.#write('\n');
				break;
			case 'w:sym':
				this.#write(symbolOf(element.attribute('font') ?? '', Number.parseInt(element.attribute('char') ?? '', 16)));
				break;
			case 'w:noBreakHyphen':
				this.#write('-');
				break;
			case 'w:footnoteReference':
				this.#addNote(`footnote ${element.attribute('id')}`);
				break;
			case 'w:endnoteReference':
				this.#addNote(`endnote ${element.attribute('id')}`);
				break;
			case 'w:txbxContent':
				this.#boxes.push([]);
				break;
			case 'w:tbl':
				this.#tables.open(this.#boxes.length);
				break;
			case 'mc:AlternateContent':
				this.#alternatives.push(false);
				break;
			case 'mc:Choice':
				this.#alternatives[this.#alternatives.length - 1] = true;
				break;
		}
	}

	close(name: string): void {
		if (this.#skipping > 0) {
			this.#skipping--;
			return;
		}
		if (name === 'w:p') this.#endParagraph();
		else if (name === 'w:pPr') this.#inProperties = false;
		else if (name === 'w:t' || name === 'm:t') this.#inText--;
		else if (name === 'w:tc') this.#tables.endCell();
		else if (name === 'w:tr') this.#tables.endRow();
		else if (name === 'w:tbl') this.#endTable();
		else if (name === 'w:txbxContent') this.#endBox();
		else if (name === 'w:sdt') this.#prompts.pop();
		else if (name === 'mc:AlternateContent') this.#alternatives.pop();
	}

	text(text: string): void {
		if (this.#inText > 0 && this.#skipping === 0) this.#write(text);
	}

	#isSkipped(name: string): boolean {
		if (SKIPPED.has(name)) return true;
		if (name === 'w:sdtContent') return this.#prompts.at(-1) === true;
		return (name === 'mc:Choice' || name === 'mc:Fallback') && this.#alternatives.at(-1) === true;
	}

	#write(text: string): void {
		const paragraph = this.#paragraphs.at(-1);
		if (paragraph === undefined || this.#hidden) return;
		const written = this.#isRaised ? raisedText(paragraph.text, text) : text;
		paragraph.text += written;
		this.#countCharacters(written.length);
	}

	#countCharacters(count: number): void {
		this.#written += count;
		if (this.#written > MAX_TEXT_BYTES)
			throw resourceLimit('The Word document holds more than 10 MB of text. Split it.');
	}

	#dropMark(): void {
		const paragraph = this.#paragraphs.at(-1);
		if (paragraph !== undefined) paragraph.hasMark = false;
	}

	#addNote(note: string): void {
		const text = this.#notes.get(note);
		if (text !== undefined && text !== '') this.#paragraphs.at(-1)?.notes.push(text);
	}

	#endParagraph(): void {
		const paragraph = this.#paragraphs.pop();
		if (paragraph === undefined) return;
		const role = this.#styles.roleOf(paragraph.style);
		const text = normaliseSpace(paragraph.text);
		const isCounted = text !== '' || paragraph.hasMark;
		// Each paragraph of a list advances its numbers: a heading, an empty one and one in a cell too.
		const marker = isCounted ? this.#markerOf(paragraph, role) : undefined;
		const numbered = marker == null ? text : `${marker} ${text}`.trim();
		const table = this.#tables.around(this.#boxes.length);
		if (table !== undefined) {
			if (numbered !== '') table.addText(numbered);
			for (const block of paragraph.textBoxes) table.addText(block.text);
			for (const note of paragraph.notes) table.notes.push(note);
			return;
		}
		if (text !== '' && !role.isContentsEntry) {
			const heading = paragraph.outline ?? role.heading ?? (role.isTitle ? 1 : null);
			if (role.isTitle) this.title ??= text.replace(/\s+/gu, ' ');
			if (heading !== null)
				this.#emit({ kind: 'heading', level: heading, text: numbered.replace(/\s+/gu, ' '), page: null });
			else if (marker === undefined) this.#emit({ kind: 'paragraph', text, page: null });
			else this.#emit({ kind: 'item', text: marker === null ? `- ${text}` : numbered, page: null });
		}
		for (const block of paragraph.textBoxes) this.#emit(block);
		for (const note of paragraph.notes) this.#emit({ kind: 'paragraph', text: note, page: null });
	}

	/** The number of a list's paragraph; null for a bullet, undefined for a paragraph that is in no list. */
	#markerOf({ listId, level }: Paragraph, { list }: ParagraphRole): string | null | undefined {
		if (listId === '' || (listId === null && list === null)) return undefined;
		const marker = this.#numbering.next(listId ?? list?.id ?? '', level ?? list?.level ?? 0);
		this.#countCharacters(marker?.length ?? 0);
		return marker;
	}

	#endTable(): void {
		const ended = this.#tables.end();
		if (ended === null) return;
		if (!ended.isNested) for (const block of ended.table.blocks(null)) this.#emit(block);
		for (const note of ended.table.notes) this.#emit({ kind: 'paragraph', text: note, page: null });
	}

	#endBox(): void {
		const box = this.#boxes.pop() ?? [];
		const host = this.#paragraphs.at(-1);
		for (const block of box) {
			if (host !== undefined) host.textBoxes.push(block);
			else this.#emit(block);
		}
	}

	#emit(block: Block): void {
		const box = this.#boxes.at(-1);
		if (box === undefined) this.#budget.spend(block.text);
		(box ?? this.blocks).push(block);
	}
}

/** Whether the style of a table sets off its first row (ISO/IEC 29500-1, 17.4.56; the bit is that of the first edition). */
function hasHeaderStyle(look: Element): boolean {
	const firstRow = look.attribute('firstRow');
	return firstRow === null ? (Number.parseInt(look.attribute('val') ?? '20', 16) & 0x20) !== 0 : isOn(firstRow);
}
