/** Pasted text may have control characters. The API takes tabs and line breaks only. */
export function withoutControls(text: string): string {
	return text.replace(/(?![\t\n\r])\p{Cc}/gu, '');
}
