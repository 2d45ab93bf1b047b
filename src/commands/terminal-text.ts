/**
 * What a terminal acts on, or what changes the order in which it shows the rest: control characters (C0, DEL, C1), separators
 * of lines, marks and overrides of direction, and halves of surrogate pairs.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/** A text as a terminal can show it: what it would act on is escaped as in JavaScript. Escaping twice changes nothing more. */
export function terminalText(text: string): string {
	return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for a text of several lines. */
export function terminalLines(text: string): string {
	return text.split('\n').map(terminalText).join('\n');
}
