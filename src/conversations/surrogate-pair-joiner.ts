const TRAILING_HIGH_SURROGATE = /[\ud800-\udbff]$/;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/**
 * Makes of pieces of a text, wherever they were cut, pieces of whole characters, so that every reader can decode each of
 * them and what is stored is what was told. Half a character at the end of a piece waits for its other half; half a
 * character without another becomes U+FFFD.
 */
export class SurrogatePairJoiner {
	#highSurrogate = '';

	/** What of the text can be told with this piece; may be empty. */
	add(piece: string): string {
		const text = this.#highSurrogate + piece;
		this.#highSurrogate = TRAILING_HIGH_SURROGATE.exec(text)?.[0] ?? '';
		return wellFormed(text.slice(0, text.length - this.#highSurrogate.length));
	}

	/** What is left at the end of the text. */
	end(): string {
		const half = this.#highSurrogate;
		this.#highSurrogate = '';
		return wellFormed(half);
	}
}

function wellFormed(text: string): string {
	return text.replace(LONE_SURROGATES, '\ufffd');
}
