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
	const shown = charactersOf(line.slice(0, 4 * MAX_CHARS));
	if (shown.length <= MAX_CHARS && line.length <= 4 * MAX_CHARS) return line;
	const cut = shown.slice(0, MAX_CHARS - 1).join('');
	const space = cut.lastIndexOf(' ');
	return `${(space > MAX_CHARS / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** Latin letters, digits and punctuation, without marks that combine with the character before them. */
const LATIN_TEXT = /^[ -~\u00a0-\u02ff]*$/;

/** The characters that a reader sees. In Latin text each is one code unit; to segment other text takes much longer. */
function charactersOf(text: string): string[] {
	if (LATIN_TEXT.test(text)) return text.split('');
	return [...characters.segment(text)].map(({ segment }) => segment);
}
