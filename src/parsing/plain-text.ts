import { type BodyBlock, type ExtractedDocument, stripInvisible } from './blocks.ts';
import { resourceLimit, TextBudget } from './limits.ts';

/** A line that begins a list item: a bullet, or a number or letter with a dot or bracket. */
const LIST_ITEM = /^\s*(?:[-*+•▪◦‣·●○■–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S/u;
/** Shorter lines were broken intentionally: verse, addresses, columns. */
const MIN_WRAPPED_CHARACTERS = 45;

/** 10 MB of prose have 50,000 to 200,000 lines, a list of single words a million. */
const MAX_LINES = 1_200_000;

/**
 * Reads plain text: paragraphs are separated by blank lines, lists keep their lines, wrapped lines are joined.
 * @throws AppError `resource_limit`
 */
export function parsePlainText(text: string): ExtractedDocument {
	const blocks: BodyBlock[] = [];
	const budget = new TextBudget();
	for (const lines of paragraphsOf(stripInvisible(text))) {
		for (const block of blocksOf(lines)) {
			budget.spend(block.text);
			blocks.push(block);
		}
	}
	return { format: 'txt', title: null, declared_language: null, page_count: null, blocks };
}

/** The lines of each paragraph, one paragraph at a time. */
function* paragraphsOf(text: string): Generator<string[]> {
	let lines: string[] = [];
	let count = 0;
	for (let at = 0; at < text.length; ) {
		const newline = text.indexOf('\n', at);
		const end = newline === -1 ? text.length : newline;
		const line = text.slice(at, end);
		at = end + 1;
		if (++count > MAX_LINES) {
			const maxLines = MAX_LINES.toLocaleString('en');
			throw resourceLimit(`The file has more than ${maxLines} lines. Split it into smaller files.`);
		}
		if (line.trim() !== '') lines.push(line);
		else if (lines.length > 0) {
			yield lines;
			lines = [];
		}
	}
	if (lines.length > 0) yield lines;
}

function* blocksOf(lines: string[]): Generator<BodyBlock> {
	const first = lines[0];
	if (first === undefined) return;
	const starts = lines.flatMap((line, index) => (LIST_ITEM.test(line) ? [index] : []));
	// One line that looks like an item may be a wrapped sentence that continues with "1990. " or a dash.
	if (starts.length < 2 && starts[0] !== 0) {
		yield { kind: 'paragraph', text: joinLines(lines), page: null };
		return;
	}
	const lead = lines.slice(0, starts[0]);
	if (lead.length > 0) yield { kind: 'paragraph', text: joinLines(lead), page: null };
	for (const [index, start] of starts.entries()) {
		yield { kind: 'item', text: joinLines(lines.slice(start, starts[index + 1])), page: null };
	}
}

/** Joins wrapped lines; short lines stay separate. */
function joinLines(lines: string[]): string {
	const trimmed = lines.map((line) => line.trim().replace(/[^\S\n]+/gu, ' '));
	const full = trimmed.slice(0, -1);
	const wrapped = full.length > 0 && full.every((line) => line.length >= MIN_WRAPPED_CHARACTERS);
	return trimmed.join(wrapped ? ' ' : '\n');
}
