const MAX_NAME_CHARACTERS = 200;

const HEADING_STYLE = /^\s*(?:heading|überschrift|titre|título|titolo|kop)\s*([1-9])/iu;

/** The entries of a table of contents repeat the headings. */
const CONTENTS_STYLE = /^\s*(?:toc|verzeichnis|tm|tdc|sommario|inhopg)\s*[1-9]\b/iu;

/** The paragraph styles of an RTF document that decide what a paragraph is. */
export class RtfStyleSheet {
	readonly #headings = new Map<number, number>();
	readonly #contents = new Set<number>();
	#number = 0;
	#name = '';

	/** Begins the definition of a style. */
	begin(number: number): void {
		this.#number = number;
		this.#name = '';
	}

	addName(text: string): void {
		this.#name += text.slice(0, MAX_NAME_CHARACTERS - this.#name.length);
	}

	/** Ends the definition. */
	end(): void {
		const level = HEADING_STYLE.exec(this.#name)?.[1];
		if (level !== undefined) this.#headings.set(this.#number, Number(level));
		if (CONTENTS_STYLE.test(this.#name)) this.#contents.add(this.#number);
	}

	roleOf(number: number): { heading: number | null; isContentsEntry: boolean } {
		return { heading: this.#headings.get(number) ?? null, isContentsEntry: this.#contents.has(number) };
	}
}
