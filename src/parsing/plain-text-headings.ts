import type { HeadingBlock } from './blocks.ts';
import { KEY_AND_VALUE, type Paragraph } from './plain-text-blocks.ts';

const MAX_HEADING_CHARS = 80;
const MAX_HEADING_WORDS = 10;
/** The least length of the paragraph below a heading without any mark. */
const MIN_BODY_CHARS = 60;

/** A line of one sign. Under another line it makes that a heading, and alone it separates parts. */
const RULER = /^\s*(?:([=\-~*_#+])\1{2,}|(?:[-*_] ){2,}[-*_])\s*$/;
/** As in Markdown and wikis, which many write in plain text, too. */
const HASHES = /^(#{1,6})\s+(\S.*?)[\s#]*$/;
const EQUAL_SIGNS = /^(={2,6})\s*(\S.*?)\s*\1\s*$/;
/** A number of a chapter or section: "3.", "3.2", "§ 4", "Chapter 2", "IV.". */
const NUMBER =
	/^(?:(?:chapter|section|part|article|annex|appendix|kapitel|abschnitt|teil|artikel|anhang|chapitre|partie|annexe|capítulo|sección)\s+)?(?:§\s*)?(\d{1,3}(?:\.\d{1,3}){0,5}|[IVX]{1,6})[.):]?\s+\p{Lu}/iu;
const PLAIN = /^\p{Lu}[\p{L}\p{N} ,&/()'’"–-]*[\p{L}\p{N})?]$/u;

/** Whether a line is a ruler. */
export function isRuler(line: string): boolean {
	return RULER.test(line);
}

/**
 * Separates a heading from the paragraph that it begins or is.
 * @param next the paragraph below
 * @param isFirst whether it is the first of the file
 */
export function takeHeading(
	lines: Paragraph,
	next: Paragraph | undefined,
	isFirst: boolean,
): { heading: HeadingBlock | null; rest: Paragraph } {
	const [first = '', second = ''] = lines;
	const line = first.trim();
	const marked = line.length > MAX_HEADING_CHARS + 20 ? null : (HASHES.exec(line) ?? EQUAL_SIGNS.exec(line));
	if (marked !== null) {
		return {
			heading: headingOf(marked[2] ?? '', (marked[1]?.length ?? 1) - (line.startsWith('=') ? 1 : 0)),
			rest: lines.slice(1),
		};
	}
	if (isRuler(second)) {
		return line.length <= MAX_HEADING_CHARS
			? { heading: headingOf(line, second.includes('=') ? 1 : 2), rest: lines.slice(2) }
			: { heading: null, rest: lines.filter((_, index) => index !== 1) };
	}
	if (lines.length > 1 && isNameOfEntries(lines)) return { heading: headingOf(line, 3), rest: lines.slice(1) };
	const level = lines.length === 1 && next !== undefined ? levelAlone(line, next, isFirst) : null;
	return level === null ? { heading: null, rest: lines } : { heading: headingOf(line, level), rest: [] };
}

/** The level of a line that stands alone between blank lines; null if it is no heading. */
function levelAlone(line: string, next: Paragraph, isFirst: boolean): number | null {
	if (line.length > MAX_HEADING_CHARS || line.split(/\s+/).length > MAX_HEADING_WORDS || /\s{3}|\t|[.,;:!]$/.test(line))
		return null;
	const letters = line.match(/\p{L}/gu)?.length ?? 0;
	if (letters < 3) return null;
	const body = next.join(' ').length;
	const number = NUMBER.exec(line)?.[1];
	if (number !== undefined) return body > line.length ? 2 + (number.match(/\./g)?.length ?? 0) : null;
	if (line === line.toUpperCase() && line !== line.toLowerCase() && letters > line.length / 2) return isFirst ? 1 : 2;
	if (!PLAIN.test(line)) return null;
	if (isFirst) return 1;
	return body >= MIN_BODY_CHARS && body > 2 * line.length ? 3 : null;
}

/** Whether the first line names the entries directly below it: all others are names with values. */
function isNameOfEntries([first = '', ...others]: Paragraph): boolean {
	const line = first.trim();
	if (line.length > MAX_HEADING_CHARS || line.split(/\s+/).length > MAX_HEADING_WORDS || !/^\p{Lu}/u.test(line))
		return false;
	if (/[.,;:!]|\s{3}|\t/.test(line) || !/\p{L}{3}/u.test(line)) return false;
	return others.every((other) => KEY_AND_VALUE.test(other));
}

function headingOf(text: string, level: number): HeadingBlock {
	return { kind: 'heading', level: Math.max(1, level), text: text.replace(/\s+/gu, ' ').trim(), page: null };
}
