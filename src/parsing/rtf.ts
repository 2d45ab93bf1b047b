import { type Block, type ExtractedDocument, stripInvisible, toSingleLine } from './blocks.ts';
import { resourceLimit, TextBudget } from './limits.ts';
import { decodeBytes } from './rtf-charsets.ts';
import { RtfFontTable } from './rtf-font-table.ts';
import { FIRST_GROUP, isSkippedGroup, RTF_CHARACTERS, type RtfGroup } from './rtf-groups.ts';
import { RtfStyleSheet } from './rtf-style-sheet.ts';
import { RtfTable } from './rtf-table.ts';
import { type RtfToken, rtfTokens } from './rtf-tokens.ts';
import { raisedText } from './superscript.ts';
import { isSymbolFont, symbolOf } from './symbol-font.ts';

const MAX_GROUP_DEPTH = 5000;
/** Bytes are decoded in pieces of about this size. */
const MAX_PENDING_BYTES = 64 * 1024;
/** Text without the end of a paragraph is divided. */
const MAX_PARAGRAPH_CHARACTERS = 64 * 1024;

/** What describes the open paragraph. */
interface ParagraphState {
	heading: number | null;
	inTable: boolean;
	isContentsEntry: boolean;
}

const NEW_PARAGRAPH: ParagraphState = { heading: null, inTable: false, isContentsEntry: false };

/** Reads a Rich Text Format document (RTF 1.9.1). @throws AppError `resource_limit` */
export function parseRtf(bytes: Uint8Array): ExtractedDocument {
	const reader = new RtfReader();
	for (const token of rtfTokens(bytes)) reader.take(token);
	reader.end();
	return {
		format: 'rtf',
		title: toSingleLine(reader.title) || null,
		declared_language: null,
		page_count: null,
		blocks: reader.blocks,
	};
}

class RtfReader {
	readonly blocks: Block[] = [];
	title = '';
	readonly #budget = new TextBudget();
	#group: RtfGroup = { ...FIRST_GROUP };
	readonly #outer: RtfGroup[] = [];
	/** Whether the last token was `\*`: the next word names a group that programs may leave out. */
	#isOptional = false;
	/** Whether the group has begun and its first word names it. */
	#isGroupStart = false;
	/** The bytes of text that are not decoded yet. */
	#pending = new Uint8Array(1024);
	#pendingBytes = 0;
	/** Characters after a `\u` that are left out. */
	#skipCharacters = 0;
	readonly #fonts = new RtfFontTable();
	readonly #styles = new RtfStyleSheet();
	#text = '';
	#marker = '';
	#paragraph: ParagraphState = NEW_PARAGRAPH;
	readonly #table = new RtfTable();
	/** The open notes and text boxes, with the state of the paragraph in which they stand, and the depth of their groups. */
	readonly #openAsides: Array<{ depth: number; text: string } & ParagraphState> = [];
	/** The notes and text boxes that follow the paragraph. */
	#asides: string[] = [];

	take(token: RtfToken): void {
		if (token.kind === 'text') {
			this.#addBytes(token.bytes);
			return;
		}
		this.#flushBytes();
		if (token.kind === 'open') this.#open();
		else if (token.kind === 'close') this.#close();
		else if (token.kind === 'control') this.#take(token.word, token.value);
	}

	#take(word: string, value: number | null): void {
		if (word === '*') {
			this.#isOptional = true;
			return;
		}
		const isDestination = this.#isGroupStart;
		const isOptional = this.#isOptional;
		this.#isGroupStart = this.#isOptional = false;
		if (!isDestination || !this.#destination(word, isOptional)) this.#control(word, value);
	}

	end(): void {
		this.#flushBytes();
		this.#endParagraph();
		this.#endTable();
	}

	#open(): void {
		if (this.#outer.length >= MAX_GROUP_DEPTH) throw resourceLimit('The RTF document is nested too deeply to be read.');
		this.#outer.push(this.#group);
		this.#group = { ...this.#group };
		this.#isGroupStart = true;
		this.#isOptional = false;
		this.#skipCharacters = 0;
	}

	#close(): void {
		if (this.#group.capture === 'style') this.#styles.end();
		if (this.#group.capture === 'font') this.#fonts.endName();
		if (this.#openAsides.at(-1)?.depth === this.#outer.length) this.#endAside();
		this.#group = this.#outer.pop() ?? this.#group;
		this.#isGroupStart = false;
		this.#skipCharacters = 0;
	}

	/** Reads the first word of a group. Returns false if it is an ordinary control word, too. */
	#destination(word: string, isOptional: boolean): boolean {
		if (word === 'title') {
			this.#group.capture = 'title';
			return true;
		}
		if (word === 'listtext' || word === 'pntext') {
			this.#group.capture = 'marker';
			this.#marker = '';
			return true;
		}
		if (word === 'footnote') {
			this.#beginAside(this.#text.replace(/(?:\^\d{1,3}|[⁰¹²³⁴-⁹]{1,3})$/u, ''));
			return true;
		}
		if (word === 'shptxt') {
			this.#beginAside(this.#text);
			return true;
		}
		if (isSkippedGroup(word, isOptional)) {
			this.#group.skipped = true;
			if (this.#group.capture === 'font') this.#group.capture = null;
			return word !== 'fonttbl' && word !== 'stylesheet';
		}
		return false;
	}

	/** @param text the text of the paragraph so far, without the number of a note */
	#beginAside(text: string): void {
		this.#openAsides.push({ depth: this.#outer.length, text, ...this.#paragraph });
		this.#text = '';
	}

	#endAside(): void {
		const outside = this.#openAsides.pop();
		const aside = this.#takeText();
		if (aside !== '') this.#asides.push(aside);
		if (outside === undefined) return;
		const { text, heading, inTable, isContentsEntry } = outside;
		this.#text = text;
		this.#paragraph = { heading, inTable, isContentsEntry };
	}

	#control(word: string, value: number | null): void {
		const group = this.#group;
		if (word === 'ansicpg' && value !== null) group.charset = this.#fonts.documentCharset = `windows-${value}`;
		else if (word === 'uc') group.fallback = value ?? 1;
		else if (word === 'u' && value !== null) {
			const code = value < 0 ? value + 65_536 : value;
			this.#write(isSymbolFont(group.charset ?? '') ? symbolOf(group.charset ?? '', code) : String.fromCharCode(code));
			this.#skipCharacters = group.fallback;
		} else if (word === 'f') {
			if (group.capture === 'font') this.#fonts.endName();
			group.charset = this.#fonts.use(value ?? 0);
		} else if (word === 'fcharset') this.#fontCharset(value ?? 0);
		else if (word === 'super') group.isRaised = value !== 0;
		else if (word === 'nosupersub' || word === 'sub') group.isRaised = false;
		else if (word === 'v') group.hidden = value !== 0;
		else if (word === 'deleted') group.hidden = value !== 0;
		else if (word === 'plain') group.hidden = group.isRaised = false;
		else if (word === 's') this.#paragraphStyle(value ?? 0);
		// It stands in a group of properties that are not read.
		else if (word === 'nestrow') this.#table.endNestedRow();
		else if (group.skipped || group.capture === 'marker') return;
		else if (word === 'outlinelevel') this.#setParagraph({ heading: value !== null && value < 9 ? value + 1 : null });
		else if (word === 'pard') this.#paragraph = NEW_PARAGRAPH;
		else if (word === 'intbl') this.#setParagraph({ inTable: true });
		else if (word === 'par' || word === 'sect' || word === 'page') this.#endParagraph();
		else if (word === 'cell') this.#endCell();
		else if (word === 'nestcell') this.#endNestedCell();
		else if (word === 'row') this.#table.endRow();
		else if (word === 'trowd') this.#table.beginRow();
		else if (word === 'trhdr') this.#table.markHeader();
		else if (word === 'clvmrg') this.#table.continueCell();
		else if (word === 'clmrg') this.#table.joinCell();
		else if (word === 'cellx') this.#table.defineCell();
		else this.#write(RTF_CHARACTERS[word] ?? (/^[\\{}]$/.test(word) ? word : ''));
	}

	#setParagraph(state: Partial<ParagraphState>): void {
		this.#paragraph = { ...this.#paragraph, ...state };
	}

	/** The charset of a font in the table of fonts. That of a font with signs is its name, which follows. */
	#fontCharset(charset: number): void {
		if (this.#fonts.define(charset, this.#group.skipped)) this.#group.capture = 'font';
	}

	/** A style of a paragraph, or the definition of one in the table of styles. */
	#paragraphStyle(number: number): void {
		if (this.#group.skipped) {
			this.#group.capture = 'style';
			this.#styles.begin(number);
		} else this.#setParagraph(this.#styles.roleOf(number));
	}

	#addBytes(bytes: Uint8Array): void {
		this.#isGroupStart = false;
		const skipped = Math.min(this.#skipCharacters, bytes.length);
		this.#skipCharacters -= skipped;
		if (this.#group.skipped && this.#group.capture === null) return;
		const added = bytes.subarray(skipped);
		// A byte below 0x30 is never the second one of a character.
		if (this.#pendingBytes >= MAX_PENDING_BYTES && (added[0] ?? 0) < 0x30) this.#flushBytes();
		const length = this.#pendingBytes + added.length;
		if (length > this.#pending.length) {
			const larger = new Uint8Array(Math.max(length, 2 * this.#pending.length));
			larger.set(this.#pending.subarray(0, this.#pendingBytes));
			this.#pending = larger;
		}
		this.#pending.set(added, this.#pendingBytes);
		this.#pendingBytes = length;
	}

	/** Decodes the bytes since the last control word: a character may have two. */
	#flushBytes(): void {
		if (this.#pendingBytes === 0) return;
		const bytes = this.#pending.subarray(0, this.#pendingBytes);
		this.#pendingBytes = 0;
		this.#write(decodeBytes(bytes, this.#group.charset));
	}

	#write(text: string): void {
		const { capture, skipped, hidden, isRaised } = this.#group;
		if (text === '') return;
		if (capture === 'title') this.title += text.slice(0, 1000 - this.title.length);
		else if (capture === 'style') this.#styles.addName(text);
		else if (capture === 'font') this.#fonts.addName(text);
		else if (capture === 'marker') this.#marker += text.slice(0, 50 - this.#marker.length);
		else if (!skipped && !hidden) {
			this.#text += isRaised ? raisedText(this.#text, text) : text;
			if (this.#text.length > MAX_PARAGRAPH_CHARACTERS && this.#openAsides.length === 0) this.#endParagraph();
		}
	}

	#takeText(): string {
		const text = stripInvisible(this.#text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n ?/g, '\n')).trim();
		this.#text = '';
		this.#budget.spend(text);
		return text;
	}

	#endParagraph(): void {
		if (this.#openAsides.length > 0) {
			this.#text += '\n';
			return;
		}
		const text = this.#takeText();
		const marker = this.#marker.replace(/\s+/g, ' ').trim();
		this.#marker = '';
		const { inTable, isContentsEntry } = this.#paragraph;
		if (inTable) {
			this.#table.addText(text);
			return;
		}
		this.#endTable();
		if (text !== '' && !isContentsEntry) this.blocks.push(this.#blockOf(text, marker));
		this.#addAsides();
	}

	#blockOf(text: string, marker: string): Block {
		const { heading } = this.#paragraph;
		if (heading !== null)
			return { kind: 'heading', level: heading, text: toSingleLine(`${marker} ${text}`), page: null };
		if (marker === '') return { kind: 'paragraph', text, page: null };
		return { kind: 'item', text: `${/[\p{L}\p{N}]/u.test(marker) ? marker : '-'} ${text}`, page: null };
	}

	#addAsides(): void {
		for (const text of this.#asides) this.blocks.push({ kind: 'paragraph', text, page: null });
		this.#asides = [];
	}

	#endCell(): void {
		this.#table.endCell(this.#takeText());
		this.#marker = '';
	}

	#endNestedCell(): void {
		this.#table.endNestedCell(this.#takeText());
		this.#marker = '';
	}

	#endTable(): void {
		if (!this.#table.isOpen) return;
		for (const block of this.#table.end()) this.blocks.push(block);
		this.#addAsides();
	}
}
