const FIRST_HALF_AT_END = /[\ud800-\udbff]$/;
const HALVES = /\p{Surrogate}/gu;

/**
 * Makes of pieces of a text, wherever they were cut, pieces of whole characters, so that every reader can decode each of
 * them and what is stored is what was told. Half a character at the end of a piece waits for its other half; half a
 * character without another becomes U+FFFD.
 */
export class WholeCharacters {
	#half = '';

	/** What of the text can be told with this piece; may be empty. */
	add(piece: string): string {
		const text = this.#half + piece;
		this.#half = FIRST_HALF_AT_END.exec(text)?.[0] ?? '';
		return wellFormed(text.slice(0, text.length - this.#half.length));
	}

	/** What is left at the end of the text. */
	end(): string {
		const half = this.#half;
		this.#half = '';
		return wellFormed(half);
	}
}

function wellFormed(text: string): string {
	return text.replace(HALVES, '\ufffd');
}
