import type { Line } from './pdf-lines.ts';

/** The margins of a page, as shares of its height, that have running heads and page numbers. */
const MARGIN_SHARE = 0.12;
const MIN_PAGES = 3;
const MIN_PAGE_SHARE = 0.6;

/** A page's number, from 1, its lines, and its height in points. */
export interface Page {
	number: number;
	lines: Line[];
	height: number;
}

/**
 * Removes running heads, footers and page numbers from the pages, in place: lines in a margin with the same position and the
 * same words (digits aside) on three pages and on most of all pages, or of all odd or even pages.
 */
export function removeRunningHeads(pages: Page[]): void {
	const seen = new Map<string, Set<number>>();
	const keys = new Map<Line, string>();
	for (const [index, page] of pages.entries()) {
		for (const line of page.lines) {
			const key = keyOf(line, page.height);
			if (key === null) continue;
			keys.set(line, key);
			let pageIndexes = seen.get(key);
			if (pageIndexes === undefined) {
				pageIndexes = new Set();
				seen.set(key, pageIndexes);
			}
			pageIndexes.add(index);
		}
	}
	const isRepeated = (pageIndexes: Set<number>): boolean => {
		if (pageIndexes.size < MIN_PAGES) return false;
		if (pageIndexes.size >= MIN_PAGE_SHARE * pages.length) return true;
		const odd = [...pageIndexes].filter((index) => index % 2 === 1).length;
		const side = Math.max(odd, pageIndexes.size - odd);
		return side === pageIndexes.size && side >= MIN_PAGE_SHARE * (pages.length / 2);
	};
	const repeated = new Set([...seen].filter(([, pageIndexes]) => isRepeated(pageIndexes)).map(([key]) => key));
	for (const page of pages) page.lines = page.lines.filter((line) => !repeated.has(keys.get(line) ?? ''));
}

function keyOf(line: Line, height: number): string | null {
	if (!line.isUpright || (line.baseline > height * MARGIN_SHARE && line.baseline < height * (1 - MARGIN_SHARE)))
		return null;
	const words = line.text.toLowerCase();
	// Page numbers in Roman numerals are different words.
	const text = /^[ivxlc]{1,8}$/.test(words) ? '#' : words.replace(/\d+/g, '#');
	return `${text} ${Math.round(line.baseline / 3)}`;
}
