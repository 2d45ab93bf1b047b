const TRAILING_HIGH_SURROGATE = /[\ud800-\udbff]$/;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/**
 * Joins surrogate pairs that were split between pieces of a text, so that each piece can be decoded by itself and the stored
 * text equals the streamed text. A high surrogate at the end of a piece waits for the next piece; a lone surrogate becomes
 * U+FFFD.
 */
export class SurrogatePairJoiner {
	#highSurrogate = '';

	/** The text that can be sent with this piece; may be empty. */
	add(piece: string): string {
		const text = this.#highSurrogate + piece;
		this.#highSurrogate = TRAILING_HIGH_SURROGATE.exec(text)?.[0] ?? '';
		return wellFormed(text.slice(0, text.length - this.#highSurrogate.length));
	}

	/** The rest at the end of the text. */
	end(): string {
		const half = this.#highSurrogate;
		this.#highSurrogate = '';
		return wellFormed(half);
	}
}

function wellFormed(text: string): string {
	return text.replace(LONE_SURROGATES, '\ufffd');
}
