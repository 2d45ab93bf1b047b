/** Tokens of a message besides its text: its role and the separator before the next message. */
export const MESSAGE_TOKENS = 8;

const SPACE = 0x20;
const FIRST_AFTER_ASCII = 0x80;
const FIRST_OF_THREE_BYTES = 0x800;

/**
 * An upper bound of the tokens of a text, without the vocabulary of the model: a third for an ASCII letter or a space
 * (English text has four to five of them per token), one for any other ASCII character (some vocabularies take digits one by
 * one), and half of the bytes in UTF-8 for other characters. Current models need fewer for prose, code, tables and Asian
 * scripts, often by a third. A bound that is too high does no harm here.
 */
export function tokensOf(text: string): number {
	let sixths = 0;
	for (let at = 0; at < text.length; at++) sixths += sixthsOf(text.charCodeAt(at));
	return Math.ceil(sixths / 6);
}

/** The longest beginning of a text with at most so many tokens. */
export function firstTokens(text: string, tokens: number): string {
	let sixths = 0;
	for (let at = 0; at < text.length; at++) {
		sixths += sixthsOf(text.charCodeAt(at));
		if (sixths > tokens * 6) return text.slice(0, isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at);
	}
	return text;
}

function sixthsOf(unit: number): number {
	if (unit < FIRST_AFTER_ASCII) return isLetter(unit) || unit === SPACE ? 2 : 6;
	// A surrogate pair has four bytes in UTF-8, two for each half, but such characters are very rare.
	return unit < FIRST_OF_THREE_BYTES ? 6 : 9;
}

function isLetter(unit: number): boolean {
	const lower = unit | 0x20;
	return lower >= 0x61 && lower <= 0x7a;
}

function isLowSurrogate(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
