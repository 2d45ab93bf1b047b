import type { Line } from './pdf-lines.ts';

/** The parts of a page, from its edges, in which running heads and page numbers stand. */
const MARGIN = 0.12;
const FEWEST_PAGES = 3;
const LEAST_SHARE = 0.6;

/** A page's lines and its height in points. */
export interface Page {
	lines: Line[];
	height: number;
}

/**
 * Takes running heads, footers and page numbers out of the pages, in place: lines in a page's margin that stand at the
 * same place with the same words (digits aside) on three pages and most of all or of all odd or even ones.
 */
export function dropFurniture(pages: Page[]): void {
	const seen = new Map<string, Set<number>>();
	const keys = new Map<Line, string>();
	for (const [index, page] of pages.entries()) {
		for (const line of page.lines) {
			const key = keyOf(line, page.height);
			if (key === null) continue;
			keys.set(line, key);
			let at = seen.get(key);
			if (at === undefined) {
				at = new Set();
				seen.set(key, at);
			}
			at.add(index);
		}
	}
	const isRepeated = (at: Set<number>): boolean => {
		if (at.size < FEWEST_PAGES) return false;
		if (at.size >= LEAST_SHARE * pages.length) return true;
		const odd = [...at].filter((index) => index % 2 === 1).length;
		const side = Math.max(odd, at.size - odd);
		return side === at.size && side >= LEAST_SHARE * (pages.length / 2);
	};
	const repeated = new Set([...seen].filter(([, at]) => isRepeated(at)).map(([key]) => key));
	for (const page of pages) page.lines = page.lines.filter((line) => !repeated.has(keys.get(line) ?? ''));
}

function keyOf(line: Line, height: number): string | null {
	if (!line.upright || (line.level > height * MARGIN && line.level < height * (1 - MARGIN))) return null;
	const words = line.text.toLowerCase();
	// Page numbers in roman figures are all different words.
	const text = /^[ivxlc]{1,8}$/.test(words) ? '#' : words.replace(/\d+/g, '#');
	return `${text} ${Math.round(line.level / 3)}`;
}
