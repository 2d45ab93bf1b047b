import { safeUrl } from './safe-url.ts';

/** Elements that a message may have. All other markup stays text. */
export type Tag =
	| 'p'
	| 'h3'
	| 'h4'
	| 'ul'
	| 'ol'
	| 'li'
	| 'pre'
	| 'blockquote'
	| 'table'
	| 'tr'
	| 'th'
	| 'td'
	| 'hr'
	| 'br'
	| 'strong'
	| 'em'
	| 'del'
	| 'code'
	| 'a'
	/** A reference to a source, by its number. */
	| 'cite';

/** Text, or an element with its children. */
export type MarkdownNode = string | MarkdownElement;
export interface MarkdownElement {
	tag: Tag;
	children: MarkdownNode[];
	/** For `a`: a safe URL. */
	href?: string;
	/** For `ol`: its first number. For `cite`: its number. */
	number?: number;
}

/** Nesting of quotes and lists. Deeper markup is text. */
const MAX_DEPTH = 6;
const CODE_FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})\s+/;
const THEMATIC_BREAK = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const BLOCK_QUOTE = /^ {0,3}> ?/;
/** Larger numbers do not start a list. */
const LIST_ITEM = /^( *)([-*+]|\d{1,4}[.)])(\s+|$)/;
/** Of a line without the spaces around it. */
const TABLE_RULE = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/;

const element = (tag: Tag, children: MarkdownNode[], more?: Partial<MarkdownElement>): MarkdownElement => ({
	tag,
	children,
	...more,
});

/**
 * Parses the Markdown that models write into nodes of a fixed set of elements. No input leads to other elements or to HTML. Text
 * that is still growing is readable at every length.
 */
export function parseMarkdown(text: string): MarkdownNode[] {
	return parseBlocks(text.replace(/\r\n?/g, '\n').split('\n'), 0);
}

/** The text of nodes for screen readers and transcripts. */
export function plainText(nodes: readonly MarkdownNode[]): string {
	return nodes
		.map((node) => {
			if (typeof node === 'string') return node;
			if (node.tag === 'cite') return '';
			const end = ['strong', 'em', 'del', 'code', 'a'].includes(node.tag) ? '' : '\n';
			return plainText(node.children) + end;
		})
		.join('');
}

function parseBlocks(lines: string[], depth: number): MarkdownNode[] {
	const found: MarkdownNode[] = [];
	let at = 0;
	/** Tabs count as spaces in indentation. In code they stay tabs. */
	const lineAt = (index: number) => (lines[index] ?? '').replace(/^[ \t]+/, (space) => space.replace(/\t/g, '    '));
	const line = () => lineAt(at);
	const startsTable = () => line().includes('|') && TABLE_RULE.test(lineAt(at + 1).trim());
	const takeWhile = (isOf: (line: string) => boolean): string[] => {
		const from = at;
		while (at < lines.length && isOf(line())) at++;
		return lines.slice(from, at);
	};
	while (at < lines.length) {
		const fence = CODE_FENCE.exec(line())?.[1];
		if (line().trim() === '') {
			at++;
		} else if (fence) {
			at++;
			const end = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
			found.push(element('pre', [takeWhile((text) => !end.test(text)).join('\n')]));
			at++;
		} else if (HEADING.test(line())) {
			const [begin = '', marks = ''] = HEADING.exec(line()) ?? [];
			found.push(element(marks.length < 3 ? 'h3' : 'h4', parseInline(headingTextOf(line().slice(begin.length)), 0)));
			at++;
		} else if (THEMATIC_BREAK.test(line())) {
			found.push(element('hr', []));
			at++;
		} else if (depth < MAX_DEPTH && BLOCK_QUOTE.test(line())) {
			const quoted = takeWhile((text) => BLOCK_QUOTE.test(text)).map((text) => text.replace(BLOCK_QUOTE, ''));
			found.push(element('blockquote', parseBlocks(quoted, depth + 1)));
		} else if (depth < MAX_DEPTH && LIST_ITEM.test(line())) {
			found.push(list());
		} else if (startsTable()) {
			const head = row(line(), 'th');
			at += 2;
			found.push(element('table', [head, ...takeWhile((text) => text.includes('|')).map((text) => row(text, 'td'))]));
		} else {
			const first = at++;
			takeWhile((text) => text.trim() !== '' && !startsBlock(text) && !startsTable());
			found.push(element('p', parseInline(lines.slice(first, at).join('\n').trim(), 0)));
		}
	}
	return found;

	function list(): MarkdownElement {
		const [, indent = '', mark = ''] = LIST_ITEM.exec(line()) ?? [];
		const ordered = mark.length > 1;
		const items: MarkdownElement[] = [];
		while (at < lines.length) {
			const begin = LIST_ITEM.exec(line());
			if (!begin || (begin[1] as string).length !== indent.length || THEMATIC_BREAK.test(line())) break;
			if ((begin[2] as string).length > 1 !== ordered) break;
			const width = Math.min(begin[0].length, indent.length + (begin[2] as string).length + 4);
			const body = [line().slice(width)];
			at++;
			while (at < lines.length) {
				const text = line();
				const space = text.length - text.trimStart().length;
				if (text.trim() === '') {
					// A blank line belongs to the item only if more of the item follows.
					const next = lineAt(at + 1);
					if (next.trim() === '' || next.length - next.trimStart().length <= indent.length) break;
				} else if (space <= indent.length && startsBlock(text)) break;
				body.push(text.slice(Math.min(space, width)));
				at++;
			}
			const inner = parseBlocks(body, depth + 1);
			const only = inner[0];
			// The text of an item is not wrapped in a paragraph.
			const tight = typeof only === 'object' && only.tag === 'p' ? [...only.children, ...inner.slice(1)] : inner;
			items.push(element('li', tight));
			while (at < lines.length - 1 && line().trim() === '' && LIST_ITEM.test(lineAt(at + 1))) at++;
		}
		return ordered ? element('ol', items, { number: Number.parseInt(mark, 10) }) : element('ul', items);
	}
}

function startsBlock(line: string): boolean {
	return [CODE_FENCE, HEADING, THEMATIC_BREAK, BLOCK_QUOTE, LIST_ITEM].some((start) => start.test(line));
}

/** Removes the closing marks of a heading. The mark of a word such as C# stays. */
function headingTextOf(text: string): string {
	const title = text.trim();
	let end = title.length;
	while (title[end - 1] === '#') end--;
	return end === 0 || isSpace(title[end - 1]) ? title.slice(0, end).trim() : title;
}

function row(line: string, tag: 'th' | 'td'): MarkdownElement {
	const cells = line
		.trim()
		.replace(/^\||\|$/g, '')
		.split(/(?<!\\)\|/);
	return element(
		'tr',
		cells.map((cell) => element(tag, parseInline(cell.trim().replace(/\\\|/g, '|'), 0))),
	);
}

/** Each alternative starts with other characters and backtracks little: the time is linear in the length. */
const INLINE =
	/\\([!-/:-@[-`{-~])|(`+)|!?\[|<(https?:\/\/[^\s<>]{1,2000}|mailto:[^\s<>]{1,300})>|(\*\*\*|\*\*|\*|___|__|_|~~)|https?:\/\/[^\s<>"'`|\\^{}\u3000-\u30ff\uff01-\uff65]{1,2000}|\n/g;
const LABEL =
	/([^[\]]{0,1000})\]\(\s{0,9}<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s{1,9}["'(][^"'()\n]{0,300}["')])?\s{0,9}\)/y;
const CITE = /(\d{1,3}(?:, ?\d{1,3}){0,9})\]/y;
const STYLES = { '*': 'em', _: 'em', '**': 'strong', __: 'strong', '~~': 'del' } as const;

function parseInline(text: string, depth: number): MarkdownNode[] {
	const found: MarkdownNode[] = [];
	let plain = '';
	let at = 0;
	const push = (node: MarkdownNode) => {
		if (plain) found.push(plain);
		plain = '';
		found.push(node);
	};
	const pattern = new RegExp(INLINE);
	/** Marks without an end in this text, which are not searched again. */
	const unclosed = new Set<string>();
	for (;;) {
		pattern.lastIndex = at;
		const match = pattern.exec(text);
		if (!match) break;
		const [all, escaped, ticks, auto, mark] = match;
		plain += text.slice(at, match.index);
		at = match.index + all.length;
		if (escaped !== undefined) plain += escaped;
		else if (ticks !== undefined) {
			const end = unclosed.has(ticks) ? -1 : endOfCode(text, ticks, at);
			if (end < 0) {
				unclosed.add(ticks);
				plain += ticks;
			} else {
				const code = text.slice(at, end).replace(/\n/g, ' ');
				const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
				push(element('code', [isPadded ? code.slice(1, -1) : code]));
				at = end + ticks.length;
			}
		} else if (all === '[' || all === '![') {
			CITE.lastIndex = LABEL.lastIndex = at;
			const label = LABEL.exec(text);
			const cite = label ? null : CITE.exec(text);
			const href = label && safeUrl(label[2] as string);
			// Read before the label is parsed, which uses the same expression.
			const labelEnd = LABEL.lastIndex;
			if (label) {
				// An image is not loaded: its description is shown instead.
				const name = label[1] as string;
				const inner = depth < MAX_DEPTH ? withoutLinks(parseInline(name || (href ?? ''), depth + 1)) : [name];
				if (href) push(element('a', inner, { href }));
				else for (const node of inner) push(node);
				at = labelEnd;
			} else if (cite && all === '[') {
				// Without such a source, the mark is shown as text.
				const numbers = `[${cite[1]}]`.split(/(?=,)/);
				for (const one of numbers) push(element('cite', [one], { number: Number(one.replace(/\D/g, '')) }));
				at = CITE.lastIndex;
			} else plain += all;
		} else if (mark !== undefined) {
			const style = (mark.length === 3 ? mark.slice(1) : mark) as keyof typeof STYLES;
			const from = match.index + style.length;
			const end = depth >= MAX_DEPTH || unclosed.has(style) ? -1 : endOfStyle(text, style, match.index);
			if (end < 0) {
				if (depth < MAX_DEPTH && canOpen(text, style, match.index)) unclosed.add(style);
				plain += style;
				at = from;
			} else {
				push(element(STYLES[style], parseInline(text.slice(from, end), depth + 1)));
				at = end + style.length;
			}
		} else if (all === '\n') {
			plain = plain.trimEnd();
			push(element('br', []));
		} else {
			const url = auto ?? trimUrl(all);
			const href = safeUrl(url);
			if (href) push(element('a', [url.replace(/^mailto:/, '')], { href }));
			else plain += url;
			at = auto === undefined ? match.index + url.length : at;
		}
	}
	plain += text.slice(at);
	if (plain) found.push(plain);
	return found;
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
const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);

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
