const MAX_CHARS = 80;
/** A title is looked for in so much of a reply. */
const BEGINNING_CHARS = 2_000;
/** Citations, and what makes text strong, code or a link. */
const MARKS = /\s*\[\d+\]|\*\*|__|`|!?\[([^\]\n]*)\]\([^)\n]*\)/g;
/** Made once: that costs more than cutting a title. */
const characters = new Intl.Segmenter();

/**
 * A conversation's title where its first message gives none ("?", "👋"): from the reply to that, without its marks.
 * @param reply Markdown, with citations
 */
export function titleOfReply(reply: string): string | null {
	const lines = reply.slice(0, BEGINNING_CHARS).split(/[\r\n]+/);
	const bare = lines.map((line) => line.replace(/^[\s>#*+|-]+/, '').replace(MARKS, '$1'));
	return titleOf(bare.join('\n'));
}

/** A conversation's title from what it began with: its first line, cut between words. Null where that has no letter or digit. */
export function titleOf(content: string): string | null {
	const line = content
		.split(/[\r\n]+/)
		.map((part) => part.replace(/[\s\p{Cc}]+/gu, ' ').trim())
		.find((part) => /[\p{L}\p{N}]/u.test(part));
	// Of what is short by itself the characters need not be counted: that takes longer than all else here.
	if (line === undefined || line.length <= MAX_CHARS) return line ?? null;
	const shown = [...characters.segment(line.slice(0, 4 * MAX_CHARS))].map(({ segment }) => segment);
	if (shown.length <= MAX_CHARS && line.length <= 4 * MAX_CHARS) return line;
	const cut = shown.slice(0, MAX_CHARS - 1).join('');
	const space = cut.lastIndexOf(' ');
	return `${(space > MAX_CHARS / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
