/**
 * Removes the control characters of pasted text. The API accepts tabs and line breaks only, so page breaks and other line
 * breaks become line breaks.
 */
export function withoutControls(text: string): string {
	return text.replace(/[\v\f\x85]/g, '\n').replace(/(?![\t\n\r])\p{Cc}/gu, '');
}
