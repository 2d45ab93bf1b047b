/** Tokens that a message takes besides its text: its role and what separates it from the next. */
export const MESSAGE_TOKENS = 8;

const SPACE = 0x20;
const FIRST_AFTER_ASCII = 0x80;
const FIRST_OF_THREE_BYTES = 0x800;

/**
 * How many tokens a text is at most, without the model's own vocabulary: a third for an ASCII letter or a space (English
 * text has four to five of them a token), one for any other ASCII character (some vocabularies take digits one by one), and
 * half of its bytes in UTF-8 for what is beyond ASCII. That is more than the vocabularies of today's models make of prose,
 * code, tables or Asian scripts, often by half; too much is what does no harm here.
 */
export function tokensOf(text: string): number {
	let sixths = 0;
	for (let at = 0; at < text.length; at++) sixths += sixthsOf(text.charCodeAt(at));
	return Math.ceil(sixths / 6);
}

/** As much of the beginning of a text as is no more than so many tokens. */
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
	// Half a surrogate pair is two of its four bytes, but such characters are the rarest of all.
	return unit < FIRST_OF_THREE_BYTES ? 6 : 9;
}

function isLetter(unit: number): boolean {
	const lower = unit | 0x20;
	return lower >= 0x61 && lower <= 0x7a;
}

function isLowSurrogate(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
