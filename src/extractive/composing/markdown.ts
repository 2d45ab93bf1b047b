/**
 * Control and format characters, which reverse or hide text. Joiners and the marks of Arabic numbers are spelling and stay.
 */
const INVISIBLE = /(?![\t\n])\p{Cc}|(?![\u200c-\u200f\u0600-\u0605\u06dd\u070f\u08e2])\p{Cf}/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** In Markdown, an underscore within a word has no meaning, and neither has a single tilde. */
const SPECIAL_CHARACTERS = /[\\`*[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const SPECIAL_CHARACTERS_AND_TILDE = new RegExp(`~|${SPECIAL_CHARACTERS.source}`, 'gu');

const OPENS_TAG = /<[a-z/!?]/i;

/** Text on one line, without invisible characters. */
export function plainLine(text: string): string {
	return stripInvisible(text).replace(/\s+/g, ' ').trim();
}

/** Text with its line breaks, without invisible characters. */
export function plainLines(text: string): string {
	return stripInvisible(text.replace(/\r\n?|[\u2028\u2029]/g, '\n'));
}

function stripInvisible(text: string): string {
	return text.replace(LONE_SURROGATE, '\ufffd').replace(INVISIBLE, '');
}

/**
 * Text of a document as Markdown that shows exactly this text, without emphasis, links, images, citations, code or HTML. `<`
 * becomes an entity where it could open a tag, so that it is harmless in renderers that pass HTML through.
 */
export function escapeMarkdown(text: string): string {
	const line = plainLine(text);
	const hasStrikethrough = line.indexOf('~') !== line.lastIndexOf('~');
	const escaped = line
		.replace(hasStrikethrough ? SPECIAL_CHARACTERS_AND_TILDE : SPECIAL_CHARACTERS, '\\$&')
		.replace(/&(?=#?\w{1,32};)/g, '&amp;');
	// The closing bracket is escaped with the opening one. Otherwise a URL between the two would include it.
	return OPENS_TAG.test(escaped) ? escaped.replace(/<(?=[a-z/!?])/gi, '&lt;').replace(/>/g, '&gt;') : escaped;
}

/** `escapeMarkdown` for the beginning of a line, where more characters have a meaning. */
export function escapeMarkdownLine(text: string): string {
	return escapeMarkdown(text).replace(/^([#>+=|:-]|\d{1,9}(?=[.)]))(.?)/, (_, mark: string, next: string) =>
		/\d/.test(mark) ? `${mark}\\${next}` : `\\${mark}${next}`,
	);
}

/** Lines as a fenced code block. The fence is longer than any in the text, so the text cannot close it. */
export function codeFence(text: string, syntax: string): string {
	const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
	const fence = '`'.repeat(longest + 1);
	return `${fence}${syntax}\n${plainLines(text)}\n${fence}`;
}
