import { type Block, type ExtractedDocument, stripInvisible } from './blocks.ts';
import { resourceLimit, TextBudget } from './limits.ts';
import { type Paragraph, paragraphBlocks } from './plain-text-blocks.ts';
import { isRuler, takeHeading } from './plain-text-headings.ts';

/** 10 MB of prose have 50,000 to 200,000 lines, a list of single words a million. */
const MAX_LINES = 1_200_000;

/**
 * Reads plain text: paragraphs are separated by blank lines, lists, tables and entries keep their lines, wrapped lines are joined.
 * @throws AppError `resource_limit`
 */
export function parsePlainText(text: string): ExtractedDocument {
	const blocks: Block[] = [];
	const budget = new TextBudget();
	let isFirst = true;
	for (const [paragraph, next] of withNext(paragraphsOf(stripInvisible(text)))) {
		const { heading, rest } = takeHeading(paragraph, next, isFirst);
		isFirst = false;
		for (const block of [...(heading === null ? [] : [heading]), ...paragraphBlocks(rest)]) {
			budget.spend(block.text);
			blocks.push(block);
		}
	}
	return { format: 'txt', title: null, declared_language: null, page_count: null, blocks };
}

/** The lines of each paragraph, one paragraph at a time. */
function* paragraphsOf(text: string): Generator<Paragraph> {
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
		// A ruler under a line makes it a heading; others only separate.
		if (line.trim() !== '' && !(isRuler(line) && lines.length !== 1)) lines.push(line);
		else if (lines.length > 0) {
			yield lines;
			lines = [];
		}
	}
	if (lines.length > 0) yield lines;
}

function* withNext<T>(items: Iterable<T>): Generator<[item: T, next: T | undefined]> {
	let present: T | undefined;
	for (const item of items) {
		if (present !== undefined) yield [present, item];
		present = item;
	}
	if (present !== undefined) yield [present, undefined];
}
