import type { SearchTerm } from '../store/index.ts';

const CHARS_BEFORE = 60;
const CHARS = 240;

/** The part of a text around the first of the terms, as one line. */
export function excerptOf(text: string, terms: readonly SearchTerm[]): string {
	const folded = fold(text);
	const found = terms.map((term) => folded.indexOf(fold(term.text))).filter((at) => at >= 0);
	// Folding keeps the length of almost every text, so the position is good enough for an excerpt.
	const first = found.length === 0 ? 0 : Math.min(...found);
	const start = first <= CHARS_BEFORE ? 0 : wordStart(text, first - CHARS_BEFORE);
	const end = Math.min(text.length, start + CHARS);
	const line = text
		.slice(start, end)
		.replaceAll(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
		.replaceAll(/\s+/g, ' ')
		.trim();
	return `${start > 0 ? '… ' : ''}${line}${end < text.length ? ' …' : ''}`;
}

/** Without case and marks, as the index compares words. Composed again, because a Korean syllable would become three letters. */
function fold(text: string): string {
	return text.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC').toLowerCase();
}

function wordStart(text: string, at: number): number {
	const space = text.indexOf(' ', at);
	return space < 0 || space > at + CHARS_BEFORE ? at : space + 1;
}
