/** A placeholder as models write it: some escape its brackets and its underscore for Markdown. */
export const PLACEHOLDER = /\\?\[(EMAIL|PHONE|CARD)\\?_([1-9]\d{0,5})\\?\]/g;

/** The longest placeholder, with escapes. */
const MAX_CHARS = 20;
const BEGUN_NAME = 'E(?:M(?:A(?:IL?)?)?)?|P(?:H(?:O(?:NE?)?)?)?|C(?:A(?:RD?)?)?';
const BEGUN_NUMBER = '(?:EMAIL|PHONE|CARD)\\\\?(?:_(?:[1-9]\\d{0,5}\\\\?\\]?)?)?';
const BEGUN = new RegExp(`\\\\?(?:\\[(?:${BEGUN_NAME}|${BEGUN_NUMBER})?)?$`);

/**
 * Where a placeholder begins at the end of a text that the text that follows may complete; the length if none does. A complete
 * one counts, because it may be the text of a link.
 */
export function startOfBegunPlaceholder(text: string): number {
	const from = Math.max(0, text.length - MAX_CHARS);
	return from + (BEGUN.exec(text.slice(from))?.index ?? text.length - from);
}
