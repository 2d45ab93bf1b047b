/** A style sheet for shadow roots. It is constructed by script, which a Content-Security-Policy does not restrict. */
export function styleSheet(css: string): CSSStyleSheet {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(css);
	return sheet;
}
