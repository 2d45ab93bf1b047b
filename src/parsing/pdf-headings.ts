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
/** Bold text may be a little smaller than the text below it. */
const MIN_BOLD_RATIO = 0.9;
const MAX_BOLD_HEADING_CHARS = 100;
const MIN_FOUND_SHARE = 0.6;

/**
 * Headings from the outline if its titles are found on the pages, else from the sizes and weights of the fonts.
 * @param boldFonts the fonts that are bold
 */
export function headingLevels(
	lines: Line[],
	outline: OutlineEntry[],
	boldFonts: ReadonlySet<string> = new Set(),
): HeadingLevelOf {
	return byOutline(lines, outline) ?? byType(lines, boldFonts);
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

function byType(lines: Line[], boldFonts: ReadonlySet<string>): HeadingLevelOf {
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
	const bold = boldHeadings(lines, boldFonts, body[0]);
	// The first level is that of a title.
	const boldLevel = Math.min(MAX_LEVELS, Math.max(2, used.length + 1));
	return (line) => (isHeading(line) ? (levels.get(roundSize(line.size)) ?? null) : bold.has(line) ? boldLevel : null);
}

/** Bold lines in the size of the text that stand alone above text that is not bold. None if much of the text is bold. */
function boldHeadings(lines: readonly Line[], boldFonts: ReadonlySet<string>, bodySize: number): ReadonlySet<Line> {
	const isBold = (line: Line | undefined) => line !== undefined && line.font !== null && boldFonts.has(line.font);
	let total = 0;
	let bold = 0;
	const found = new Set<Line>();
	for (const [index, line] of lines.entries()) {
		total += line.text.length;
		if (!isBold(line)) continue;
		bold += line.text.length;
		const [before, after] = [lines[index - 1], lines[index + 1]];
		if (!line.isUpright || line.size < MIN_BOLD_RATIO * bodySize || !readsAsBoldHeading(line.text)) continue;
		if (after === undefined || isBold(after) || isRowOf(line, after)) continue;
		if (isBeside(line, before) || isBeside(line, after)) continue;
		if (before === undefined || isBold(before) || isApart(before, line)) found.add(line);
	}
	return bold > MAX_HEADING_SHARE * total ? new Set() : found;
}

function readsAsBoldHeading(text: string): boolean {
	return text.length <= MAX_BOLD_HEADING_CHARS && readsAsHeading(text) && /\p{L}{3}/u.test(text) && !text.endsWith('-');
}

/** Whether a line has parts in several columns, as the line below it may have. */
function isRowOf({ pieces, size }: Line, after: Line): boolean {
	if (pieces.length > 1 && after.pieces.length > 1) return true;
	return pieces.some((piece, index) => index > 0 && piece.left - (pieces[index - 1]?.right ?? 0) > size);
}

/** Whether two lines stand at the same height: they are cells of a row. */
function isBeside(line: Line, other: Line | undefined): boolean {
	return other?.page === line.page && Math.abs(other.baseline - line.baseline) < 0.5 * line.size;
}

/** Whether a line begins something new: after a gap, in another column or on another page, or after the short end of a paragraph. */
function isApart(before: Line, line: Line): boolean {
	const gap = before.baseline - line.baseline;
	if (before.page !== line.page || gap < 0 || gap > 1.5 * line.size) return true;
	return /[.!?:]$/.test(before.text) || before.right - before.left < 0.5 * (line.right - line.left);
}

function readsAsHeading(text: string): boolean {
	return text.length <= MAX_HEADING_CHARS && /\p{L}{2}/u.test(text) && !/[,;]$|[a-z]\.$/.test(text);
}

function roundSize(size: number): number {
	return Math.round(size * 2) / 2;
}
