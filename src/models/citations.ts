/** `[1]`, `[1, 2]`: not escaped, not the text of a link or the label of a definition. */
const CITATION = /(?<!\\)(\\*)\[\s{0,3}(\d{1,4}(?:\s{0,3},\s{0,3}\d{1,4}){0,20})\s{0,3}\](?![(:])/g;
const FENCE = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))*[ \t]*(`{3,}|~{3,})/;

/** A source number in an answer. */
export interface CitationMark {
	index: number;
	/** The end of the text before it in its paragraph, list or table, without other source numbers. */
	before(): string;
}

const MAX_BEFORE_CHARS = 2_000;

/**
 * The source numbers that an answer cites, in order of first appearance. Left out are numbers without a passage, which a model
 * may invent.
 */
export function citedIndexes(text: string, passages: ReadonlyArray<{ index: number }>): number[] {
	const known = new Set(passages.map((passage) => passage.index));
	const cited = new Set<number>();
	for (const { index } of citationMarks(text)) if (known.has(index)) cited.add(index);
	return [...cited];
}

/** The source numbers in an answer, in their order. Numbers in code are not citations. */
export function* citationMarks(text: string): Generator<CitationMark> {
	for (const block of proseBlocks(text)) {
		const prose = withoutCodeSpans(block);
		for (const match of prose.matchAll(CITATION)) {
			// An odd number of backslashes before the bracket escapes it.
			if ((match[1] as string).length % 2 === 1) continue;
			const before = () => prose.slice(Math.max(0, match.index - MAX_BEFORE_CHARS), match.index).replace(CITATION, '');
			for (const number of (match[2] as string).split(',')) yield { index: Number(number), before };
		}
	}
}

/** The text outside fenced code, split at blank lines, which also end code spans. */
function* proseBlocks(text: string): Generator<string> {
	let fence: string | null = null;
	let block: string[] = [];
	for (const line of text.split('\n')) {
		const mark = FENCE.exec(line)?.[1];
		if (fence !== null) {
			if (mark?.startsWith(fence) && /^[`~\s]*$/.test(line.slice(line.indexOf(mark)))) fence = null;
			continue;
		}
		// The info string of a backtick fence has no backtick. A line with one is a code span.
		const opens =
			mark !== undefined && !(mark[0] === '`' && line.slice(line.indexOf(mark) + mark.length).includes('`'));
		if (!opens && line.trim() !== '') {
			block.push(line);
			continue;
		}
		yield block.join('\n');
		block = [];
		if (opens) fence = mark;
	}
	yield block.join('\n');
}

/** The block with each code span (two runs of backticks of the same length and the text between) replaced by a space. */
function withoutCodeSpans(block: string): string {
	if (!block.includes('`')) return block;
	const runs = [...block.matchAll(/`+/g)].map((match) => ({ at: match.index, length: match[0].length }));
	// With the last run of each length, an opening run without a closing run is found without another search to the end.
	const last = new Map(runs.map((run, position) => [run.length, position]));
	let prose = '';
	let from = 0;
	for (let i = 0; i < runs.length; i++) {
		const run = runs[i] as { at: number; length: number };
		if (block[run.at - 1] === '\\' || (last.get(run.length) as number) <= i) continue;
		let close = i + 1;
		while (runs[close]?.length !== run.length) close++;
		const end = (runs[close] as { at: number; length: number }).at + run.length;
		prose += `${block.slice(from, run.at)} `;
		from = end;
		i = close;
	}
	return prose + block.slice(from);
}
