import { type Element, readXml } from './xml-reader.ts';

/** A list of the numbering part, and the level in it, from 0. */
export interface ListReference {
	id: string;
	level: number;
}

/** The numbering that one style states; null: the style that it is based on decides. */
interface StyleNumbering {
	/** `0` removes the numbering of the style that it is based on. */
	id: string | null;
	level: number | null;
}

/** The role of a paragraph style in the structure of a document. */
export interface ParagraphRole {
	/** The heading's level from 1, null for body text. */
	heading: number | null;
	/** The document's title. */
	isTitle: boolean;
	/** An entry of a table of contents; it repeats a heading. */
	isContentsEntry: boolean;
	/** The list that it is part of through its style. */
	list: ListReference | null;
}

/** Word itself takes eleven levels. */
const MAX_INHERITANCE_DEPTH = 50;

interface Style {
	id: string;
	name: string;
	basedOn: string | null;
	outline: number | null;
	numbering: StyleNumbering;
}

/** Word keeps built-in names in English whatever its language; other writers and converted files translate them. */
const HEADING_NAME =
	/^(?:heading|überschrift|titre|título|titulo|titolo|kop|nagłówek|заголовок|rubrik|overskrift|otsikko|nadpis|címsor|başlık|見出し|标题|標題|제목)\s*([1-9])$/u;
const TITLE_NAME = /^(?:title|titel|titre|título|titolo|tytuł|название|otsikko|表題|标题|제목)$/u;
const CONTENTS_NAME = /^(?:toc|verzeichnis|table of figures)\s*\d*$/u;

const BODY_ROLE: ParagraphRole = { heading: null, isTitle: false, isContentsEntry: false, list: null };

/** The paragraph styles of a document: by id, because ids are translated and renamed, through names and inheritance. */
export class Styles {
	readonly #styles = new Map<string, Style>();
	readonly #roles = new Map<string, ParagraphRole>();

	/** @param part the styles part; absent in minimal documents */
	constructor(part: Uint8Array | undefined) {
		let style: Style | null = null;
		if (part === undefined) return;
		const handlers = {
			open: (element: Element) => {
				const value = element.attribute('val');
				if (element.name === 'w:style') {
					const id = element.attribute('styleId') ?? '';
					style = { id, name: '', basedOn: null, outline: null, numbering: { id: null, level: null } };
				} else if (style === null) return;
				else if (element.name === 'w:name') style.name = (value ?? '').toLowerCase();
				else if (element.name === 'w:basedOn') style.basedOn = value;
				else if (element.name === 'w:outlineLvl') style.outline = outlineOf(value);
				else if (element.name === 'w:numId') style.numbering.id = value;
				else if (element.name === 'w:ilvl') style.numbering.level = Number(value) || 0;
			},
			close: (name: string) => {
				if (name !== 'w:style' || style === null) return;
				this.#styles.set(style.id, style);
				style = null;
			},
			text: () => {},
		};
		readXml(part, handlers, 'Word document');
	}

	/** The role of a style by its id. */
	roleOf(id: string | null): ParagraphRole {
		if (id === null) return BODY_ROLE;
		let role = this.#roles.get(id);
		if (role === undefined) {
			role = this.#resolve(id);
			this.#roles.set(id, role);
		}
		return role;
	}

	/** Follows inheritance to the first style with a role and to the first one with a list; stops at a cycle. */
	#resolve(id: string): ParagraphRole {
		const seen = new Set<string>();
		let role: Partial<ParagraphRole> | null = null;
		const numbering: StyleNumbering = { id: null, level: null };
		for (let at: string | null = id; at !== null && !seen.has(at); ) {
			if (seen.size === MAX_INHERITANCE_DEPTH) break;
			seen.add(at);
			const style: Style | undefined = this.#styles.get(at);
			role ??= ownRole(style?.name || nameFromId(at), style?.outline ?? null);
			if (numbering.id === null) {
				numbering.id = style?.numbering.id ?? null;
				numbering.level ??= style?.numbering.level ?? null;
			}
			at = style?.basedOn ?? null;
		}
		const hasList = numbering.id !== null && numbering.id !== '0';
		return { ...BODY_ROLE, ...role, list: hasList ? { id: numbering.id ?? '', level: numbering.level ?? 0 } : null };
	}
}

/** The role that a style states itself; null if the style that it is based on decides. */
function ownRole(name: string, outline: number | null): Partial<ParagraphRole> | null {
	const level = HEADING_NAME.exec(name)?.[1];
	if (level !== undefined) return { heading: Number(level) };
	if (CONTENTS_NAME.test(name)) return { isContentsEntry: true };
	if (TITLE_NAME.test(name)) return { isTitle: true };
	return outline === null ? null : { heading: outline };
}

/** An outline level as a heading's level: 0..8 are headings, 9 is body text (ISO/IEC 29500-1, 17.3.1.20). */
export function outlineOf(value: string | null): number | null {
	const level = Number(value);
	return value !== null && Number.isInteger(level) && level >= 0 && level < 9 ? level + 1 : null;
}

/** A file without a styles part still names built-in styles by id: "Heading1". */
function nameFromId(id: string): string {
	return id.toLowerCase().replace(/(\d)$/, ' $1');
}
