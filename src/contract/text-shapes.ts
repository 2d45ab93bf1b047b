import { Type } from 'typebox';
import { MULTILINE, MULTILINE_OR_EMPTY, SINGLE_LINE, SINGLE_LINE_OR_EMPTY } from './patterns.ts';
import { NullableText } from './shapes.ts';

interface TextOptions {
	/** In characters. */
	maxLength: number;
	description?: string;
	examples?: string[];
}

/** A name or title: one line with a visible character and without control characters. */
export function SingleLineText(options: TextOptions) {
	return Type.String({ minLength: 1, pattern: SINGLE_LINE, ...options });
}

/** As `SingleLineText`, or null. */
export function NullableSingleLineText(options: TextOptions) {
	return NullableText({ minLength: 1, pattern: SINGLE_LINE, ...options });
}

/** One line without control characters, which may be empty. */
export function OptionalSingleLineText(options: TextOptions) {
	return Type.String({ pattern: SINGLE_LINE_OR_EMPTY, ...options });
}

/** Text with a visible character, which may have tabs and line breaks (LF, CR LF) but no other control characters. */
export function MultilineText(options: TextOptions) {
	return Type.String({ minLength: 1, pattern: MULTILINE, ...options });
}

/** As `MultilineText`, but it may be empty. */
export function OptionalMultilineText(options: TextOptions) {
	return Type.String({ pattern: MULTILINE_OR_EMPTY, ...options });
}

/** As `OptionalMultilineText`, or null. */
export function NullableMultilineText(options: TextOptions) {
	return NullableText({ pattern: MULTILINE_OR_EMPTY, ...options });
}
