import { numberText } from './list-numbers.ts';
import { isOn } from './ooxml-package.ts';
import { type Element, readXml } from './xml-reader.ts';

/** A level of a list. */
interface Level {
	start: number;
	/** How its number is written: `decimal`, `lowerLetter`, `bullet` … (ISO/IEC 29500-1, 17.18.59). */
	format: string;
	/** The marker, with `%1` for the number of the first level. */
	text: string;
	/** All numbers of the marker are decimal, as in "1.1" below "I". */
	isLegal: boolean;
	/** It begins again only after items above this level (0: never); undefined: after items of any higher level. */
	restart: number | undefined;
}

interface List {
	/** The definition that it shares with other lists. Those count together. */
	definition: string;
	/** The levels that begin again with this list, and their first numbers. */
	restarts: Map<number, number>;
}

/** ISO/IEC 29500-1, 17.9.3. */
const MAX_LEVEL = 8;
const MAX_MARKER_CHARACTERS = 30;

/** The numbers of the list items of a Word document, in the order in which they are asked for. */
export class Numbering {
	readonly #definitions = new Map<string, Map<number, Level>>();
	/** The definitions that have the levels of a list style, and those that take them from it, with the id of the style. */
	readonly #styled = new Map<string, Map<number, Level>>();
	readonly #links = new Map<string, string>();
	readonly #lists = new Map<string, List>();
	/** The last number of each level, by definition. */
	readonly #counts = new Map<string, number[]>();

	/** @param part the numbering part; absent in documents without lists */
	constructor(part: Uint8Array | undefined) {
		if (part === undefined) return;
		let levels = new Map<number, Level>();
		let level: Level | null = null;
		let list: List | null = null;
		let overridden = 0;
		let definition = '';
		const open = (element: Element) => {
			const value = element.attribute('val') ?? '';
			switch (element.name) {
				case 'w:abstractNum':
					levels = new Map();
					list = null;
					definition = element.attribute('abstractNumId') ?? '';
					this.#definitions.set(definition, levels);
					break;
				case 'w:styleLink':
					this.#styled.set(value, levels);
					break;
				case 'w:numStyleLink':
					this.#links.set(definition, value);
					break;
				case 'w:lvl':
					level = { start: 1, format: 'decimal', text: '', isLegal: false, restart: undefined };
					// A level within an override replaces that of one list, which is not read. Its `w:startOverride` is.
					if (list === null && Number(element.attribute('ilvl')) <= MAX_LEVEL)
						levels.set(Number(element.attribute('ilvl')), level);
					break;
				case 'w:start':
					if (level !== null) level.start = numberOf(value);
					break;
				case 'w:numFmt':
					if (level !== null) level.format = value;
					break;
				case 'w:isLgl':
					if (level !== null) level.isLegal = isOn(element.attribute('val'));
					break;
				case 'w:lvlRestart':
					if (level !== null) level.restart = numberOf(value);
					break;
				case 'w:lvlText':
					if (level !== null) level.text = value;
					break;
				case 'w:num':
					list = { definition: '', restarts: new Map() };
					this.#lists.set(element.attribute('numId') ?? '', list);
					break;
				case 'w:abstractNumId':
					if (list !== null) list.definition = value;
					break;
				case 'w:lvlOverride':
					overridden = Number(element.attribute('ilvl'));
					break;
				case 'w:startOverride':
					list?.restarts.set(overridden, numberOf(value));
					break;
			}
		};
		const close = (name: string) => {
			if (name === 'w:lvl') level = null;
		};
		readXml(part, { open, close, text: () => {} }, 'Word document');
	}

	/** The marker of the next item of a list; null for a bullet, and for an unknown list. */
	next(listId: string, level: number): string | null {
		const list = this.#lists.get(listId);
		const definition = list?.definition ?? '';
		const levels = this.#styled.get(this.#links.get(definition) ?? '') ?? this.#definitions.get(definition);
		const own = levels?.get(level);
		if (list === undefined || levels === undefined || own === undefined || level > MAX_LEVEL) return null;
		const counts = this.#counts.get(list.definition) ?? [];
		// A list restarts at its first item only.
		const restart = list.restarts.get(level);
		list.restarts.delete(level);
		const count = restart ?? (counts[level] === undefined ? own.start : counts[level] + 1);
		const next = counts.slice(0, level);
		next[level] = count;
		for (const [below, { restart: after }] of levels) {
			const kept = counts[below];
			if (below > level && after !== undefined && level >= after && kept !== undefined) next[below] = kept;
		}
		this.#counts.set(list.definition, next);
		if (own.format === 'bullet' || own.format === 'none') return null;
		const marker = own.text.replace(/%([1-9])/g, (_, digit: string) => {
			const at = Number(digit) - 1;
			const { start, format } = levels.get(at) ?? own;
			return numberText(next[at] ?? start, own.isLegal ? 'decimal' : at === level ? own.format : format);
		});
		return marker.trim().slice(0, MAX_MARKER_CHARACTERS) || null;
	}
}

function numberOf(value: string): number {
	const number = Number(value);
	return Number.isInteger(number) && number >= 0 ? number : 1;
}
