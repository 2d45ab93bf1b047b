import { element, MAX_DEPTH, type MarkdownNode } from './markdown-nodes.ts';
import { safeUrl } from './safe-url.ts';

/** Each alternative starts with other characters and backtracks little: the time is linear in the length. */
const INLINE =
	/\\([!-/:-@[-`{-~])|(`+)|!?\[|<(https?:\/\/[^\s<>]{1,2000}|mailto:[^\s<>]{1,300})>|(\*\*\*|\*\*|\*|___|__|_|~~)|https?:\/\/[^\s<>"'`|\\^{}\u3000-\u30ff\uff01-\uff65]{1,2000}|\n/g;
const LABEL =
	/([^[\]]{0,1000})\]\(\s{0,9}<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s{1,9}["'(][^"'()\n]{0,300}["')])?\s{0,9}\)/y;
const CITE = /(\d{1,3}(?:, ?\d{1,3}){0,9})\]/y;
const STYLES = { '*': 'em', _: 'em', '**': 'strong', __: 'strong', '~~': 'del' } as const;

/** What some markup stands for, and where the text continues. A string is text, which joins the text around it. */
type Parsed = [content: string | MarkdownNode[], end: number];

/** A text, as its parts see it. */
interface InlineText {
	text_: string;
	depth_: number;
	/** Marks without an end in this text, which are not searched again. */
	unclosed_: Set<string>;
}

/** Parses the markup inside a block. */
export function parseInline(text: string, depth = 0): MarkdownNode[] {
	const found: MarkdownNode[] = [];
	let plain = '';
	let at = 0;
	const pattern = new RegExp(INLINE);
	const inline: InlineText = { text_: text, depth_: depth, unclosed_: new Set() };
	const flush = () => {
		if (plain) found.push(plain);
		plain = '';
	};
	for (;;) {
		pattern.lastIndex = at;
		const match = pattern.exec(text);
		if (!match) break;
		plain += text.slice(at, match.index);
		if (match[0] === '\n') plain = plain.trimEnd();
		const [content, end] = parseMatch(inline, match);
		if (typeof content === 'string') plain += content;
		else if (content.length > 0) {
			flush();
			found.push(...content);
		}
		at = end;
	}
	plain += text.slice(at);
	flush();
	return found;
}

function parseMatch(
	inline: InlineText,
	{ 0: all, 1: escaped, 2: ticks, 3: auto, 4: mark, index }: RegExpExecArray,
): Parsed {
	const end = index + all.length;
	if (escaped) return [escaped, end];
	if (ticks) return parseCode(inline, ticks, end);
	if (mark) return parseStyle(inline, mark, index);
	if (all === '\n') return [[element('br', [])], end];
	if (all === '[' || all === '![') return parseLabel(inline, all, end);
	const url = auto ?? trimUrl(all);
	const href = safeUrl(url);
	return [href ? [element('a', [url.replace(/^mailto:/, '')], { href })] : url, auto ? end : index + url.length];
}

/** Code between runs of backticks. */
function parseCode({ text_, unclosed_ }: InlineText, ticks: string, at: number): Parsed {
	const end = unclosed_.has(ticks) ? -1 : endOfCode(text_, ticks, at);
	if (end < 0) {
		unclosed_.add(ticks);
		return [ticks, at];
	}
	const code = text_.slice(at, end).replace(/\n/g, ' ');
	const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
	return [[element('code', [isPadded ? code.slice(1, -1) : code])], end + ticks.length];
}

/** A link, an image, or references to sources. */
function parseLabel({ text_, depth_ }: InlineText, mark: string, at: number): Parsed {
	CITE.lastIndex = LABEL.lastIndex = at;
	const label = LABEL.exec(text_);
	if (label) {
		// Read before the label is parsed, which uses the same expression.
		const end = LABEL.lastIndex;
		const href = safeUrl(label[2] as string);
		// An image is not loaded: its description is shown instead.
		const name = label[1] as string;
		const inner = depth_ < MAX_DEPTH ? withoutLinks(parseInline(name || (href ?? ''), depth_ + 1)) : [name];
		return [href ? [element('a', inner, { href })] : inner, end];
	}
	const cite = mark === '[' && CITE.exec(text_);
	if (!cite) return [mark, at];
	// Without such a source, the mark is shown as text.
	const numbers = `[${cite[1]}]`.split(/(?=,)/);
	const cites = numbers.map((one) => element('cite', [one], { number: Number(one.replace(/\D/g, '')) }));
	return [cites, CITE.lastIndex];
}

/** Strong, emphasised or deleted text. */
function parseStyle({ text_, depth_, unclosed_ }: InlineText, mark: string, at: number): Parsed {
	const style = (mark.length === 3 ? mark.slice(1) : mark) as keyof typeof STYLES;
	const from = at + style.length;
	const end = depth_ >= MAX_DEPTH || unclosed_.has(style) ? -1 : endOfStyle(text_, style, at);
	if (end >= 0) return [[element(STYLES[style], parseInline(text_.slice(from, end), depth_ + 1))], end + style.length];
	if (depth_ < MAX_DEPTH && canOpen(text_, style, at)) unclosed_.add(style);
	return [style, from];
}

/** A URL without the punctuation that ends its sentence, and without brackets that were opened before it. */
function trimUrl(url: string): string {
	const count = (mark: string) => url.split(mark).length;
	const surplus = { ')': count(')') - count('('), ']': count(']') - count('[') };
	let end = url.length;
	for (; end > 0; end--) {
		const last = url[end - 1] as string;
		if (last === ')' || last === ']' ? surplus[last]-- <= 0 : !'.,:;!?*_~'.includes(last)) break;
	}
	return url.slice(0, end);
}

function endOfCode(text: string, ticks: string, from: number): number {
	for (let at = text.indexOf(ticks, from); at >= 0; at = text.indexOf(ticks, at)) {
		let after = at;
		while (text[after] === '`') after++;
		if (after - at === ticks.length) return at;
		at = after;
	}
	return -1;
}

const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
export const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);

function canOpen(text: string, mark: string, at: number): boolean {
	if (isSpace(text[at + mark.length])) return false;
	return !mark.startsWith('_') || !isWord(text[at - 1]);
}

/** The end of the text in this style; -1 if the mark does not start a style or has no end. */
function endOfStyle(text: string, mark: string, begin: number): number {
	if (!canOpen(text, mark, begin)) return -1;
	const first = begin + mark.length + 1;
	for (let at = text.indexOf(mark, first); at >= 0; at = text.indexOf(mark, at)) {
		let after = at;
		while (text[after] === mark[0]) after++;
		const run = after - at;
		const closes =
			!isSpace(text[at - 1]) &&
			text[at - 1] !== '\\' &&
			(mark[0] !== '_' || !isWord(text[after])) &&
			canClose(run, mark.length);
		// In a longer run of marks the last ones end the outer style.
		if (closes) return after - mark.length;
		at = after;
	}
	return -1;
}

/** A run of one mark does not end two, and two do not end one. Three end either. */
function canClose(run: number, wanted: number): boolean {
	return run === wanted || run >= 3;
}

/** A link inside a link becomes text. */
function withoutLinks(nodes: MarkdownNode[]): MarkdownNode[] {
	return nodes.flatMap((node) => {
		if (typeof node === 'string') return [node];
		const children = withoutLinks(node.children);
		return node.tag === 'a' ? children : [{ ...node, children }];
	});
}
