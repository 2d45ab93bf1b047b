/** Pasted text may have control characters. The API accepts tabs and line breaks only; other line and page breaks become line breaks. */
export function withoutControls(text: string): string {
	return text.replace(/[\v\f\x85]/g, '\n').replace(/(?![\t\n\r])\p{Cc}/gu, '');
}
