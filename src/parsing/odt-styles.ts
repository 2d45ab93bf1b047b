import { numberText } from './list-numbers.ts';
import type { Element } from './xml-reader.ts';

interface Style {
	parent: string | null;
	displayName: string;
	outline: number | null;
	isHidden: boolean;
	isRaised: boolean;
}

/** How a level of a list writes its numbers. */
interface NumberedLevel {
	format: string;
	prefix: string;
	suffix: string;
}

/** The formats of numbers (ISO/IEC 26300-3, 19.502) by their names in Office Open XML. */
const FORMATS: Record<string, string> = { a: 'lowerLetter', A: 'upperLetter', i: 'lowerRoman', I: 'upperRoman' };
const MAX_MARKER_CHARACTERS = 20;

/** The maximum number of styles that inherit from each other. */
const MAX_INHERITANCE_DEPTH = 50;

/** The styles of an OpenDocument text, from its parts `styles.xml` and `content.xml`, as far as they tell the role of a text. */
export class OdtStyles {
	readonly #styles = new Map<string, Style>();
	/** The numbered levels of each list style. */
	readonly #numbered = new Map<string, Map<number, NumberedLevel>>();
	#style: Style | null = null;
	#list: Map<number, NumberedLevel> | null = null;

	/** Takes an element of a style; other elements are ignored. */
	open(element: Element): void {
		switch (element.name) {
			case 'style:style':
				this.#style = {
					parent: element.attribute('parent-style-name'),
					displayName: (element.attribute('display-name') ?? element.attribute('style:name') ?? '').toLowerCase(),
					outline: Number(element.attribute('default-outline-level') ?? 0) || null,
					isHidden: false,
					isRaised: false,
				};
				this.#styles.set(element.attribute('style:name') ?? '', this.#style);
				break;
			case 'style:text-properties':
				if (this.#style === null) break;
				if (element.attribute('display') === 'none') this.#style.isHidden = true;
				this.#style.isRaised = /^(?:super|[1-9])/.test(element.attribute('text-position') ?? '');
				break;
			case 'text:list-style':
				this.#list = new Map();
				this.#numbered.set(element.attribute('style:name') ?? '', this.#list);
				break;
			case 'text:list-level-style-number':
				if ((element.attribute('num-format') ?? '') !== '') {
					this.#list?.set(Number(element.attribute('level')), {
						format: FORMATS[element.attribute('num-format') ?? ''] ?? 'decimal',
						prefix: element.attribute('num-prefix') ?? '',
						suffix: element.attribute('num-suffix') ?? '',
					});
				}
				break;
		}
	}

	/** Ends a style. */
	close(name: string): void {
		if (name === 'style:style') this.#style = null;
		if (name === 'text:list-style') this.#list = null;
	}

	/** Whether a style, or a style that it inherits from, is that of the document's title. */
	isTitle(name: string | null): boolean {
		return this.#chain(name).some(([id, { displayName }]) => id === 'Title' || displayName === 'title');
	}

	/** The heading level of a paragraph style; null for body text. */
	outlineOf(name: string | null): number | null {
		return this.#chain(name).find(([, { outline }]) => outline !== null)?.[1].outline ?? null;
	}

	isHidden(name: string | null): boolean {
		return this.#chain(name).some(([, { isHidden }]) => isHidden);
	}

	/** Whether text of a style is superscript. */
	isRaised(name: string | null): boolean {
		return this.#chain(name).some(([, { isRaised }]) => isRaised);
	}

	/** The marker of an item of a list: its number as the list writes it, or a dash. @param level from 1 */
	markerOf(list: string | null, level: number, number: number): string {
		const numbered = this.#numbered.get(list ?? '')?.get(level);
		if (numbered === undefined) return '- ';
		const { format, prefix, suffix } = numbered;
		return `${(prefix + numberText(number, format) + (suffix || '.')).trim().slice(0, MAX_MARKER_CHARACTERS)} `;
	}

	/** A style and those that it inherits from. Stops at a cycle. */
	#chain(name: string | null): Array<[id: string, style: Style]> {
		const chain: Array<[string, Style]> = [];
		const seen = new Set<string>();
		for (let id = name; id !== null && !seen.has(id) && seen.size < MAX_INHERITANCE_DEPTH; ) {
			seen.add(id);
			const style = this.#styles.get(id);
			if (style === undefined) break;
			chain.push([id, style]);
			id = style.parent;
		}
		return chain;
	}
}
