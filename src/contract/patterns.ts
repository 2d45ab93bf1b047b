/** For each pattern, the end of the sentence about a text that does not match it. */
const sentences = new Map<string, string>();

function pattern(source: string, sentence: string): string {
	sentences.set(source, sentence);
	return source;
}

/** The end of the sentence about a text that does not match a pattern. The sentence begins with the text's path. */
export function sentenceOfPattern(source: string): string {
	return sentences.get(source) ?? `must match the pattern ${source}`;
}

/** The control characters of Unicode (Cc: C0, DEL, C1), and the two separators that break lines. */
const LINE_CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** The control characters except the tab, the line feed and the carriage return before it (Windows). */
const MULTILINE_CONTROLS = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f';

/** Characters without a glyph that are no white space: fillers, marks of direction, joiners and variation selectors. */
const INVISIBLE =
	'\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\uffa0';

/**
 * White space and invisible characters, a visible character, and any allowed characters. The first three classes are disjoint, so
 * matching takes linear time, also for a text that does not match.
 */
const withVisibleCharacter = (excluded: string) =>
	`^(?:[^\\S${excluded}]|[${INVISIBLE}])*[^\\s${excluded}${INVISIBLE}][^${excluded}]*$`;

/** One line with a visible character. */
export const SINGLE_LINE = pattern(
	withVisibleCharacter(LINE_CONTROLS),
	'must have a visible character, and no line breaks, tabs or other control characters',
);
/** One line, which may be empty. */
export const SINGLE_LINE_OR_EMPTY = pattern(
	`^[^${LINE_CONTROLS}]*$`,
	'must not have line breaks, tabs or other control characters',
);
/** Lines with a visible character. */
export const MULTILINE = pattern(
	withVisibleCharacter(MULTILINE_CONTROLS),
	'must have a visible character, and no control characters except tabs and line breaks',
);
/** Lines, which may be empty. */
export const MULTILINE_OR_EMPTY = pattern(
	`^[^${MULTILINE_CONTROLS}]*$`,
	'must not have control characters except tabs and line breaks',
);

/** An address has no white space, no control characters and one @. Its mail server validates the rest. */
export const EMAIL_PATTERN = pattern(
	'^[^\\s\\u0000-\\u001f\\u007f-\\u009f@]+@[^\\s\\u0000-\\u001f\\u007f-\\u009f@]+$',
	'must be an email address',
);
export const URL_PATTERN = pattern(
	'^[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
	'must be a URL without spaces and control characters',
);
export const HTTPS_URL_PATTERN = pattern(
	'^https://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
	'must be an https URL without spaces and control characters',
);
export const WEB_URL_PATTERN = pattern(
	'^https?://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
	'must be an http or https URL without spaces and control characters',
);
export const SHORTCUT = pattern(
	'^[^\\s/\\u0000-\\u001f\\u007f-\\u009f]+$',
	'must have no spaces, slashes and control characters',
);
export const COLOUR = pattern('^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$', 'must be a colour such as #4f46e5 or #fff');
export const FUNCTION_NAME = pattern(
	'^[a-zA-Z0-9_-]{1,64}$',
	'must be 1 to 64 characters: letters from a to z, digits, "_" and "-"',
);

const singleLine = new RegExp(SINGLE_LINE, 'u');

/** Whether a text is one line with a visible character: the rule for names and titles. */
export function isSingleLine(text: string): boolean {
	return singleLine.test(text);
}

/** A text from another source as a name of one line, without control characters; null if nothing visible remains. */
export function asSingleLine(text: string): string | null {
	const line = text
		.replace(/[\s\u2028\u2029]+/gu, ' ')
		.replace(/\p{Cc}/gu, '')
		.trim();
	return line === '' ? null : line;
}
