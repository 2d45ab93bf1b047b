/**
 * Steps that the Markdown lexer may take, about 3 ns each. Its time is quadratic in the size of a paragraph
 * or list item: its marks and lines, times its length. A long ordinary document takes 50 million.
 */
const MAX_STEPS = 1_500_000_000;
/** The cost of one block of raw HTML, which is parsed as a page. */
const HTML_STEPS = 10_000;
/** Tokens that the lexer may keep, about 500 bytes each. */
const MAX_TOKENS = 500_000;
/** Text times its depth in lists and quotes: the lexer copies it once for each level. */
const MAX_COPIED = 160 * 1024 * 1024;

/** The maximum nesting on one line, more than any real text has: the lexer's memory is quadratic in the depth of lists and quotes. */
const TOO_DEEP = /^[ \t>]{100,}(?:[-*+]|\d{1,9}[.)])[ \t]|^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){50}/m;

/** Characters that may begin inline structure: the lexer tries each of them. */
const INLINE_MARKS = new Set([...'\\<![]`*_~&:@|'].map((mark) => mark.charCodeAt(0)));

const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const DEFINITION = /^ {0,3}\[[^\]]{1,999}\]:/;
const CONTINUATION_LINE = /^(?: {2}|\t| \t)/;

/**
 * Whether the lexer would take too long or too much memory for a text. One pass over its lines, in linear time. It
 * overestimates the size of paragraphs and list items, and never underestimates it.
 */
export function isTooCostly(text: string): boolean {
	if (TOO_DEEP.test(text)) return true;
	const cost = new LexerCost();
	for (let at = 0; at < text.length; ) {
		const newline = text.indexOf('\n', at);
		const end = newline === -1 ? text.length : newline;
		cost.addLine(text.slice(at, end));
		if (cost.isTooHigh) return true;
		at = end + 1;
	}
	cost.endRegion();
	return cost.isTooHigh;
}

/** Adds lines to regions, each a paragraph or list item, and regions to a sum. */
class LexerCost {
	#steps = 0;
	#tokens = 0;
	#copied = 0;
	#regions = 0;
	#definitions = 0;
	#afterBlank = false;
	/** The region that is open: its lines, marks and length. */
	#lines = 0;
	#marks = 0;
	#length = 0;

	get isTooHigh(): boolean {
		// Every piece of inline text is compared with all link definitions.
		const steps = this.#steps + this.#regionSteps() + this.#definitions * this.#regions;
		const tokens = this.#tokens + this.#marks + 3 * this.#regions;
		return steps > MAX_STEPS || tokens > MAX_TOKENS || this.#copied > MAX_COPIED;
	}

	addLine(line: string): void {
		if (/^[ \t]*$/.test(line)) {
			this.#afterBlank = true;
			return;
		}
		if (LIST_ITEM.test(line) || (this.#afterBlank && !CONTINUATION_LINE.test(line))) this.endRegion();
		this.#afterBlank = false;
		if (DEFINITION.test(line)) this.#definitions++;
		if (line.startsWith('<')) this.#steps += HTML_STEPS;
		this.#copied += line.length * nestingOf(line);
		this.#lines++;
		this.#marks += marksIn(line);
		this.#length += line.length + 1;
	}

	endRegion(): void {
		this.#steps += this.#regionSteps();
		this.#tokens += this.#marks;
		this.#regions++;
		this.#lines = 0;
		this.#marks = 0;
		this.#length = 0;
	}

	#regionSteps(): number {
		return (this.#lines + this.#marks) * this.#length;
	}
}

function marksIn(line: string): number {
	let marks = 0;
	for (let at = 0; at < line.length; at++) if (INLINE_MARKS.has(line.charCodeAt(at))) marks++;
	return marks;
}

/** The maximum number of lists and quotes around a line, from the characters before its text. */
function nestingOf(line: string): number {
	let columns = 0;
	let markers = 0;
	for (let at = 0; at < line.length; at++) {
		const character = line.charAt(at);
		if (character === ' ') columns++;
		else if (character === '\t') columns += 4;
		else if (/[->*+]/.test(character)) markers++;
		else if (!/[\d.)]/.test(character)) break;
	}
	return 1 + markers + Math.floor(Math.min(columns, 200) / 2);
}
