const MAX_CHARS = 80;
/** Made once: that costs more than cutting a title. */
const characters = new Intl.Segmenter();

/** A conversation's title from what it began with: its first line, cut between words. Null where that has no letter or digit. */
export function titleOf(content: string): string | null {
	const line = content
		.split(/[\r\n]+/)
		.map((part) => part.replace(/[\s\p{Cc}]+/gu, ' ').trim())
		.find((part) => /[\p{L}\p{N}]/u.test(part));
	if (line === undefined) return null;
	const shown = [...characters.segment(line.slice(0, 4 * MAX_CHARS))].map(({ segment }) => segment);
	if (shown.length <= MAX_CHARS && line.length <= 4 * MAX_CHARS) return line;
	const cut = shown.slice(0, MAX_CHARS - 1).join('');
	const space = cut.lastIndexOf(' ');
	return `${(space > MAX_CHARS / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
