import { charsetOfFont, SYMBOL_CHARSET } from './rtf-charsets.ts';
import { isSymbolFont } from './symbol-font.ts';

const MAX_NAME_CHARACTERS = 100;

/** The fonts of an RTF document, which decide how the bytes of its text are decoded. */
export class RtfFontTable {
	/** The charset of text whose font names none. */
	documentCharset = 'windows-1252';
	/** Charsets by the number of the font; for a font with signs its name. */
	readonly #charsets = new Map<number, string>();
	#font = 0;
	#name = '';

	/** The charset of a font. The font that is defined next has this number, too. */
	use(font: number): string {
		this.#font = font;
		return this.#charsets.get(font) ?? this.documentCharset;
	}

	/**
	 * Sets the charset of the font that was used last.
	 * @returns true if its name, which follows, decides: it may be a font with signs
	 */
	define(charset: number, isInTable: boolean): boolean {
		this.#charsets.delete(this.#font);
		const label = charsetOfFont(charset);
		if (charset === SYMBOL_CHARSET && isInTable) {
			this.#name = '';
			return true;
		}
		if (label !== null) this.#charsets.set(this.#font, label);
		return false;
	}

	addName(text: string): void {
		this.#name += text.slice(0, MAX_NAME_CHARACTERS - this.#name.length);
	}

	endName(): void {
		const name = this.#name.replace(/;.*/s, '').trim();
		this.#charsets.set(this.#font, isSymbolFont(name) ? name : 'windows-1252');
	}
}
