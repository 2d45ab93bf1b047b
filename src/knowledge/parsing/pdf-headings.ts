import type { Line } from './pdf-lines.ts';

/** An entry of a PDF's outline (its bookmarks). */
export interface OutlineEntry {
	title: string;
	level: number;
}

/** Tells of a line whether it is a heading, and of which level. */
export type HeadingLevel = (line: Line) => number | null;

const LONGEST = 160;
/** Headings are clearly larger than the text they head. */
const LARGER = 1.12;
const LEVELS = 4;
/** Where more than this share of the text would be headings, sizes mean something else. */
const MOST_HEADINGS = 0.25;
const LEAST_BODY = 0.5;
const LEAST_FOUND = 0.6;

/** Headings as the outline names them, where it does and its titles are found on the pages; else by the size of type. */
export function headingLevels(lines: Line[], outline: OutlineEntry[]): HeadingLevel {
	return byOutline(lines, outline) ?? bySize(lines);
}

function byOutline(lines: Line[], outline: OutlineEntry[]): HeadingLevel | null {
	if (outline.length === 0) return null;
	const levels = new Map(outline.map((entry) => [plain(entry.title), entry.level]));
	levels.delete('');
	const found = new Set<string>();
	for (const line of lines) if (levels.has(plain(line.text))) found.add(plain(line.text));
	if (found.size < Math.max(1, LEAST_FOUND * levels.size)) return null;
	return (line) => levels.get(plain(line.text)) ?? null;
}

/** A title without its number and punctuation. */
function plain(title: string): string {
	return title
		.toLowerCase()
		.replace(/^[\s§]*(?:(?:chapter|section|part|kapitel|teil|chapitre)\s+)?[\divx][\divx.):]*(?=\s)/u, '')
		.replace(/[^\p{L}\p{N}]+/gu, ' ')
		.trim();
}

function bySize(lines: Line[]): HeadingLevel {
	const none = () => null;
	const characters = new Map<number, number>();
	let total = 0;
	for (const line of lines) {
		characters.set(rounded(line.size), (characters.get(rounded(line.size)) ?? 0) + line.text.length);
		total += line.text.length;
	}
	const [body] = [...characters].sort((a, b) => b[1] - a[1]);
	// Scans that were read by a machine have every size there is.
	if (body === undefined || body[1] < LEAST_BODY * total) return none;
	const isHeading = (line: Line) => rounded(line.size) >= body[0] * LARGER && readsAsHeading(line.text);
	const headings = lines.reduce((sum, line) => sum + (isHeading(line) ? line.text.length : 0), 0);
	if (headings > MOST_HEADINGS * total) return none;
	const used = [...new Set(lines.filter(isHeading).map((line) => rounded(line.size)))].sort((a, b) => b - a);
	const levels = new Map(used.map((size, index) => [size, Math.min(LEVELS, index + 1)]));
	return (line) => (isHeading(line) ? (levels.get(rounded(line.size)) ?? null) : null);
}

function readsAsHeading(text: string): boolean {
	return text.length <= LONGEST && /\p{L}{2}/u.test(text) && !/[,;]$|[a-z]\.$/.test(text);
}

function rounded(size: number): number {
	return Math.round(size * 2) / 2;
}
