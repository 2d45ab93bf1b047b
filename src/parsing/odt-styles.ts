import type { Element } from './xml-reader.ts';

interface Style {
	parent: string | null;
	displayName: string;
	outline: number | null;
	isHidden: boolean;
}

/** The maximum number of styles that inherit from each other. */
const MAX_INHERITANCE_DEPTH = 50;

/** The styles of an OpenDocument text, from its parts `styles.xml` and `content.xml`, as far as they tell the role of a text. */
export class OdtStyles {
	readonly #styles = new Map<string, Style>();
	/** The numbered levels of each list style. */
	readonly #numbered = new Map<string, Set<number>>();
	#style: Style | null = null;
	#list: Set<number> | null = null;

	/** Takes an element of a style; other elements are ignored. */
	open(element: Element): void {
		switch (element.name) {
			case 'style:style':
				this.#style = {
					parent: element.attribute('parent-style-name'),
					displayName: (element.attribute('display-name') ?? element.attribute('style:name') ?? '').toLowerCase(),
					outline: Number(element.attribute('default-outline-level') ?? 0) || null,
					isHidden: false,
				};
				this.#styles.set(element.attribute('style:name') ?? '', this.#style);
				break;
			case 'style:text-properties':
				if (this.#style !== null && element.attribute('display') === 'none') this.#style.isHidden = true;
				break;
			case 'text:list-style':
				this.#list = new Set();
				this.#numbered.set(element.attribute('style:name') ?? '', this.#list);
				break;
			case 'text:list-level-style-number':
				if ((element.attribute('num-format') ?? '') !== '') this.#list?.add(Number(element.attribute('level')));
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

	/** Whether the items of a list have numbers. @param level from 1 */
	isNumbered(list: string | null, level: number): boolean {
		return this.#numbered.get(list ?? '')?.has(level) ?? false;
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
