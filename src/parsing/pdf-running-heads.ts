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
 * Removes running heads, footers and page numbers from the pages, in place. They stand in a margin at the same position on three pages
 * and on most of all pages, or of all odd or even pages, and have the same words (digits aside). Heads that change have the number of a
 * section, or repeat a line of the text, in letters that are not larger.
 */
export function removeRunningHeads(pages: Page[]): void {
	removeRepeated(pages, keyOf);
	const bodySize = bodySizeOf(pages);
	const texts = new Set(
		pages.flatMap(({ lines, height }) => lines.flatMap((line) => (isInMargin(line, height) ? [] : [wordsOf(line)]))),
	);
	removeRepeated(pages, (line, height) => {
		const isHead = line.size <= MAX_HEAD_RATIO * bodySize && (REFERENCE.test(line.text) || texts.has(wordsOf(line)));
		return isHead && isInMargin(line, height) ? `${positionOf(line)}` : null;
	});
}

/** The number of a section, as a head of a page has it: "§ 1308.14", "§§ 3–5", "Pt. 1308", "Art. 12". */
const REFERENCE =
	/^(?:§{1,2}|Pt\.|Part|Sec(?:tion|\.)|Art(?:icle|ikel|\.)|Ch(?:apter|\.)|Kap(?:itel|\.)|Abschnitt)?\s?[\dIVX][\d.,IVX–-]*(?:\s?(?:[–-]|to|bis)\s?§?\s?\d[\d.]*)?$/iu;
/** The largest size of a head that changes, relative to the text: titles of slides are larger. */
const MAX_HEAD_RATIO = 1.05;

/** The size of most of the text. */
function bodySizeOf(pages: readonly Page[]): number {
	const characters = new Map<number, number>();
	for (const { lines } of pages)
		for (const { size, text } of lines) characters.set(size, (characters.get(size) ?? 0) + text.length);
	const [body] = [...characters].sort((a, b) => b[1] - a[1]);
	return body?.[0] ?? 0;
}

/** @param keyOf the same for lines that may be one head; null for lines that are none */
function removeRepeated(pages: Page[], keyOf: (line: Line, height: number) => string | null): void {
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
	return isInMargin(line, height) ? `${wordsOf(line)} ${positionOf(line)}` : null;
}

function isInMargin({ isUpright, baseline }: Line, height: number): boolean {
	return isUpright && (baseline <= height * MARGIN_SHARE || baseline >= height * (1 - MARGIN_SHARE));
}

/** The words of a line without its numbers. Page numbers in Roman numerals are different words. */
function wordsOf({ text }: Line): string {
	const words = text.toLowerCase();
	return /^[ivxlc]{1,8}$/.test(words) ? '#' : words.replace(/\d+/g, '#');
}

function positionOf({ baseline }: Line): number {
	return Math.round(baseline / 3);
}
