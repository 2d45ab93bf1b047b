const MAX_CHARS = 80;
/** The part of a reply that is searched for a title. */
const BEGINNING_CHARS = 2_000;
/** Citations, and the marks of strong text, code and links. */
const MARKS = /\s*\[\d+\]|\*\*|__|`|!?\[([^\]\n]*)\]\([^)\n]*\)/g;
/** Created once: that costs more than cutting a title. */
const characters = new Intl.Segmenter();

/**
 * The title of a conversation whose first message has none ("?", "👋"): from the first reply, without its marks.
 * @param reply Markdown, with citations
 */
export function titleOfReply(reply: string): string | null {
	const lines = reply.slice(0, BEGINNING_CHARS).split(/[\r\n]+/);
	const bare = lines.map((line) => line.replace(/^[\s>#*+|-]+/, '').replace(MARKS, '$1'));
	return titleOf(bare.join('\n'));
}

/** A conversation's title: the first line of its first message with a letter or digit, cut between words. Null if there is none. */
export function titleOf(content: string): string | null {
	const line = content
		.split(/[\r\n]+/)
		.map((part) => part.replace(/[\s\p{Cc}]+/gu, ' ').trim())
		.find((part) => /[\p{L}\p{N}]/u.test(part));
	// A short line is returned without counting its characters, which is the expensive part.
	if (line === undefined || line.length <= MAX_CHARS) return line ?? null;
	const shown = [...characters.segment(line.slice(0, 4 * MAX_CHARS))].map(({ segment }) => segment);
	if (shown.length <= MAX_CHARS && line.length <= 4 * MAX_CHARS) return line;
	const cut = shown.slice(0, MAX_CHARS - 1).join('');
	const space = cut.lastIndexOf(' ');
	return `${(space > MAX_CHARS / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
