/**
 * Characters that a terminal interprets, or that change the order of the text: control characters (C0, DEL, C1), line
 * separators, marks and overrides of direction, and lone surrogates.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/** A text that is safe for a terminal: unsafe characters are escaped as in JavaScript. Escaping is idempotent. */
export function terminalText(text: string): string {
	return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As `terminalText`, for a text of several lines. */
export function terminalLines(text: string): string {
	return text.split('\n').map(terminalText).join('\n');
}
