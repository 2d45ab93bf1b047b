import type { Line } from './pdf-lines.ts';

/** An entry of a PDF's outline (its bookmarks). */
export interface OutlineEntry {
	title: string;
	level: number;
}

/** The heading level of a line; null if it is not a heading. */
export type HeadingLevelOf = (line: Line) => number | null;

const MAX_HEADING_CHARS = 160;
/** The least size of a heading relative to body text. */
const MIN_SIZE_RATIO = 1.12;
const MAX_LEVELS = 4;
/** If a larger share of the text would be headings, font sizes have another meaning. */
const MAX_HEADING_SHARE = 0.25;
const MIN_BODY_SHARE = 0.5;
const MIN_FOUND_SHARE = 0.6;

/** Headings from the outline if its titles are found on the pages, else from the font sizes. */
export function headingLevels(lines: Line[], outline: OutlineEntry[]): HeadingLevelOf {
	return byOutline(lines, outline) ?? bySize(lines);
}

function byOutline(lines: Line[], outline: OutlineEntry[]): HeadingLevelOf | null {
	if (outline.length === 0) return null;
	const levels = new Map(outline.map((entry) => [comparableTitle(entry.title), entry.level]));
	levels.delete('');
	const found = new Set<string>();
	for (const line of lines) if (levels.has(comparableTitle(line.text))) found.add(comparableTitle(line.text));
	if (found.size < Math.max(1, MIN_FOUND_SHARE * levels.size)) return null;
	return (line) => levels.get(comparableTitle(line.text)) ?? null;
}

/** A title without its number and punctuation. */
function comparableTitle(title: string): string {
	return title
		.toLowerCase()
		.replace(/^[\s§]*(?:(?:chapter|section|part|kapitel|teil|chapitre)\s+)?[\divx][\divx.):]*(?=\s)/u, '')
		.replace(/[^\p{L}\p{N}]+/gu, ' ')
		.trim();
}

function bySize(lines: Line[]): HeadingLevelOf {
	const none = () => null;
	const characters = new Map<number, number>();
	let total = 0;
	for (const line of lines) {
		characters.set(roundSize(line.size), (characters.get(roundSize(line.size)) ?? 0) + line.text.length);
		total += line.text.length;
	}
	const [body] = [...characters].sort((a, b) => b[1] - a[1]);
	// Scans with recognised text (OCR) have very many font sizes.
	if (body === undefined || body[1] < MIN_BODY_SHARE * total) return none;
	const isHeading = (line: Line) => roundSize(line.size) >= body[0] * MIN_SIZE_RATIO && readsAsHeading(line.text);
	const headings = lines.reduce((sum, line) => sum + (isHeading(line) ? line.text.length : 0), 0);
	if (headings > MAX_HEADING_SHARE * total) return none;
	const used = [...new Set(lines.filter(isHeading).map((line) => roundSize(line.size)))].sort((a, b) => b - a);
	const levels = new Map(used.map((size, index) => [size, Math.min(MAX_LEVELS, index + 1)]));
	return (line) => (isHeading(line) ? (levels.get(roundSize(line.size)) ?? null) : null);
}

function readsAsHeading(text: string): boolean {
	return text.length <= MAX_HEADING_CHARS && /\p{L}{2}/u.test(text) && !/[,;]$|[a-z]\.$/.test(text);
}

function roundSize(size: number): number {
	return Math.round(size * 2) / 2;
}
