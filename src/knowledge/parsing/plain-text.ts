import { type BodyBlock, type ExtractedDocument, visible } from './blocks.ts';

/** A line that begins a list item: a bullet, or a number or letter with a dot or bracket. */
const ITEM = /^\s*(?:[-*+•▪◦‣·●○■–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S/u;
/** Shorter lines were broken on purpose: verse, addresses, columns. */
const WRAPPED_LINE = 45;

/** Reads plain text: paragraphs are separated by blank lines, lists keep their lines, wrapped lines are joined. */
export function parsePlainText(text: string): ExtractedDocument {
	const blocks: BodyBlock[] = [];
	for (const paragraph of visible(text).split(/\n[^\S\n]*\n/)) {
		for (const block of blocksOf(paragraph.split('\n').filter((line) => line.trim() !== ''))) blocks.push(block);
	}
	return { format: 'txt', title: null, declared_language: null, page_count: null, blocks };
}

function* blocksOf(lines: string[]): Generator<BodyBlock> {
	const first = lines[0];
	if (first === undefined) return;
	const starts = lines.flatMap((line, index) => (ITEM.test(line) ? [index] : []));
	// One line that looks like an item may be a wrapped sentence that goes on with "1990. " or a dash.
	if (starts.length < 2 && starts[0] !== 0) {
		yield { kind: 'paragraph', text: joined(lines), page: null };
		return;
	}
	const lead = lines.slice(0, starts[0]);
	if (lead.length > 0) yield { kind: 'paragraph', text: joined(lead), page: null };
	for (const [index, start] of starts.entries()) {
		yield { kind: 'item', text: joined(lines.slice(start, starts[index + 1])), page: null };
	}
}

/** Wrapped lines become one; short lines stay lines of their own. */
function joined(lines: string[]): string {
	const trimmed = lines.map((line) => line.trim().replace(/[^\S\n]+/gu, ' '));
	const full = trimmed.slice(0, -1);
	const wrapped = full.length > 0 && full.every((line) => line.length >= WRAPPED_LINE);
	return trimmed.join(wrapped ? ' ' : '\n');
}
